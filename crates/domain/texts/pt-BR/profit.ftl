# How the figures of a day of profit are computed. Names of fields and rates stay as they are.

formula-gross_revenue = soma de quantidade * preço unitário nos pedidos do dia
formula-refunds = soma dos reembolsos com data desse dia
formula-ad_spend = soma do gasto de todas as campanhas no dia
formula-cogs_estimate = unidades * custo unitário no momento da venda ou, se faltar, o último conhecido; (goods_revenue - cogs_covered_revenue) * a proporção entre custo e receita da categoria no dia ou, se faltar, * cogs_ratio; menos returned_cogs, por reembolsos e cancelamentos com returned_units
formula-fees_estimate = soma das taxas que a loja informa; para fees_estimated_orders, receita * a taxa que os outros pedidos da plataforma indicam no dia ou, se não houver, receita * fee_rate + fee_fixed; menos returned_fees, a mesma taxa do que foi reembolsado por produtos devolvidos, onde a plataforma devolve as suas taxas
formula-shipping_estimate = soma dos fretes que a loja informa; mais shipping_per_order * shipping_estimated_orders
formula-extra_expenses = soma das despesas do dia
formula-net_revenue = gross_revenue - refunds
formula-operational_profit = net_revenue - cogs_estimate - fees_estimate - shipping_estimate
formula-final_profit = operational_profit - ad_spend - extra_expenses
formula-margin_pct = 100 * final_profit / net_revenue, se net_revenue > 0
formula-purchase_count = número de pedidos do dia
