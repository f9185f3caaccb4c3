# How the figures of a day of profit are computed. Names of fields and rates stay as they are.

formula-gross_revenue = suma de cantidad * precio unitario en los pedidos del día
formula-refunds = suma de los reembolsos con fecha de ese día
formula-ad_spend = suma del gasto de todas las campañas en el día
formula-cogs_estimate = unidades * costo unitario al momento de la venta o, si falta, el último conocido; (goods_revenue - cogs_covered_revenue) * la proporción entre costo e ingresos de la categoría ese día o, si falta, * cogs_ratio; menos returned_cogs, por reembolsos y cancelaciones con returned_units
formula-fees_estimate = suma de las comisiones que informa la tienda; para fees_estimated_orders, ingresos * la tasa que indican los demás pedidos de la plataforma ese día o, si no la hay, ingresos * fee_rate + fee_fixed; menos returned_fees, la misma tasa de lo reembolsado por productos devueltos, donde la plataforma devuelve sus comisiones
formula-shipping_estimate = suma de los envíos que informa la tienda; más shipping_per_order * shipping_estimated_orders
formula-extra_expenses = suma de los gastos del día
formula-net_revenue = gross_revenue - refunds
formula-operational_profit = net_revenue - cogs_estimate - fees_estimate - shipping_estimate
formula-final_profit = operational_profit - ad_spend - extra_expenses
formula-margin_pct = 100 * final_profit / net_revenue, si net_revenue > 0
formula-purchase_count = número de pedidos del día
