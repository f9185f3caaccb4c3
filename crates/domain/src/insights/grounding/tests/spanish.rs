//! Sentences that models write in Spanish about the figures of [`shop`], and such that they must not get through with.

use super::{language::*, *};

const ARGENTINA: Writing = Writing { language: Language::Spanish, numbers: NumberFormat::Comma };
const MEXICO: Writing = Writing { language: Language::Spanish, numbers: NumberFormat::Point };

const GROUNDED: &[&str] = &[
    "Las ventas cayeron un 62 % el domingo 1 de marzo.",
    "El domingo 1 de marzo de 2026 los ingresos fueron de 1.234,57 ARS, muy por debajo de lo esperado.",
    "Tus ingresos del 1 de marzo fueron de $ 1.234,57.",
    "Se registraron ingresos por $1.235 ese día.",
    "La ganancia fue de -500 ARS.",
    "Cerraste el período con una pérdida: −$500,00.",
    "La ganancia fue de menos quinientos pesos.",
    "Una caída del 62% frente a lo esperado.",
    "El retorno de la inversión publicitaria fue de 3,47 en los últimos 30 días.",
    "El ROAS bajó a 3,5.",
    "Hay 12 productos sin existencias.",
    "Doce productos se quedaron sin stock.",
    "Quedan veintiún pedidos por revisar.",
    "Son veintiuno en total.",
    "Mil doscientos clientes no han vuelto.",
    "1.200 clientes no han vuelto en mucho tiempo.",
    "Gastaron 2,5 millones de pesos.",
    "Gastaron $ 2.500.000 hasta ahora.",
    "Gastaron dos millones quinientos mil pesos argentinos.",
    "Los datos no explican la caída.",
    "No se conoce la causa.",
    "Se desconoce el motivo de la baja.",
    "Revise ese día y los días cercanos.",
    "Te recomendamos revisar las campañas que más gastan y pausar las que no traen pedidos.",
    "Reponga \"MUG-11\" cuanto antes.",
    "No queda stock de «MUG-11»; se vendió en los últimos 30 días.",
    "Desde el 1 de marzo no llegan datos de la tienda.",
    "Sin datos desde el 01/03/2026.",
    "La tienda no envía datos desde el domingo.",
    "Compare los costos de ambos períodos en la ganancia diaria.",
    "La tasa bajó 3,2 puntos porcentuales.",
    "El margen se redujo 3,2 puntos porcentuales el 1.º de marzo.",
    "Al ritmo actual, el stock alcanza para 30 días como máximo.",
    "El período de 30 días cerró con 1.234,57 ARS de ganancia.",
    "La ganancia fue de 1.234,57 ARS, un 62 % menos que en los 30 días anteriores.",
    "En los últimos treinta días, la ganancia cayó un 62 por ciento.",
    "En marzo de 2026 las ventas cayeron.",
    "Perdiste unos 1.235 pesos.",
    "Vale la pena mirar las ventas de cada canal.",
    "Los demás canales se mantuvieron estables.",
    "Considera aumentar el stock de los artículos más vendidos.",
    "Considera reducir la inversión en anuncios con bajo rendimiento.",
    "Hay 12 sugerencias de reposición pendientes.",
    "El día 1 fue el más flojo.",
    "Es una diferencia de aproximadamente $1,2 mil.",
    "Ventas: 1.234,57 ARS (1 de marzo).",
    "Ese domingo se vendió menos de lo habitual.",
    "Revisa el proceso de pago de la tienda y las campañas activas.",
    "Por favor, revise las sugerencias.",
    "La media de pedidos está por debajo de lo previsto.",
    "Llevan más tiempo sin comprar que la mayoría.",
    "Llevan más tiempo sin comprar que la mayoría de tus clientes.",
];

const NO_FACT: &[&str] = &[
    "La mayoría de tus clientes no ha vuelto.",
    "Se ve que la mayoría de los pedidos llegó el domingo.",
    "Los pedidos llegaron, en su mayoría, el domingo.",
    "La mayor parte de los pedidos llegó el domingo.",
    "Casi todos los pedidos llegaron el domingo.",
    "Quedan XII productos.",
    "Se vendió una veintena de productos.",
    "Se vendieron trillones de productos.",
    "Los ingresos fueron de 1.234,58 ARS.",
    "Los ingresos fueron de 1.300 ARS.",
    "Los ingresos fueron de 1.234.57 ARS.",
    "Los ingresos fueron de 1,234.57 ARS.",
    "Los ingresos fueron de 1,234 ARS.",
    "Los ingresos fueron de 1.234,57.",
    "Los ingresos fueron de US$ 1.234,57.",
    "Los ingresos fueron de U$S 1.234,57.",
    "Los ingresos fueron de 1.234,57 dólares.",
    "Los ingresos fueron de 1.234,57 pesos mexicanos.",
    "Los ingresos fueron de R$ 1.234,57.",
    "Los ingresos cayeron un 1.234,57 %.",
    "La ganancia fue de 500 ARS.",
    "La ganancia fue de -1.234,57 ARS.",
    "Las ventas cayeron un 12 %.",
    "Las ventas cayeron un 3,2 %.",
    "La tasa bajó 62 puntos porcentuales.",
    "El stock alcanza para 12 días.",
    "El stock alcanza para doce horas.",
    "Se vendió 12 veces menos.",
    "Trece productos se quedaron sin stock.",
    "Solo un producto se quedó sin stock.",
    "Quedó un único pedido.",
    "Quedan veintidós pedidos por revisar.",
    "Mil trescientos clientes no han vuelto.",
    "Doscientos clientes no han vuelto.",
    "Cero pedidos ese día.",
    "La mitad de los clientes no ha vuelto.",
    "Las ventas cayeron a la mitad.",
    "Cuesta el doble que antes.",
    "Los costos se duplicaron.",
    "Un tercio de los clientes se fue.",
    "Dos tercios de los pedidos fallaron.",
    "Una docena de productos se agotó.",
    "Miles de clientes se fueron.",
    "Se perdió medio millón de pesos.",
    "Es el tercer día consecutivo.",
    "Fue el segundo peor domingo.",
    "Las ventas cayeron el 2 de marzo.",
    "Las ventas cayeron el 1 de abril.",
    "Las ventas cayeron el lunes.",
    "Las ventas cayeron el 1 de marzo de 2025.",
    "Sin datos desde el 02/03/2026.",
    "Sin datos desde el 03/01/2026.",
    "Las ventas de abril cayeron.",
    "Las ventas de diciembre de 2026 cayeron.",
    "Ayer las ventas cayeron.",
    "La semana pasada las ventas cayeron.",
    "El mes pasado las ventas cayeron.",
    "Hoy las ventas cayeron.",
    "Las ventas se detuvieron a las 12:30.",
    "Quedan entre 12 y 15 productos.",
    "Quedan 12-15 productos.",
    "Los ingresos no fueron de 1.234,57 ARS.",
    "La tienda no vendió nada.",
    "No hubo pedidos ese domingo.",
    "Hay twelve productos sin stock.",
    "Hay dois productos sin stock.",
    "Quedan 1200000 clientes.",
    "Son 12 mil clientes.",
];

const FALSE_CAUSE: &[&str] = &[
    "Las ventas cayeron porque la tienda estuvo cerrada.",
    "Las ventas cayeron debido a la lluvia.",
    "Las ventas cayeron a causa de un error.",
    "Gracias a la campaña hubo más visitas.",
    "La caída se debe a los anuncios.",
    "El clima provocó la caída.",
    "La falta de stock llevó a menos pedidos.",
    "Las ventas cayeron por la lluvia.",
    "Las ventas cayeron por falta de stock.",
    "Las ventas cayeron por menos visitas.",
    "Probablemente hubo un problema con el pago.",
    "Parece un problema de la tienda.",
    "Como resultado, se perdieron pedidos.",
    "Por lo tanto, se perdieron pedidos.",
    "Las ventas cayeron desde que se pausaron los anuncios.",
    "Las ventas cayeron tras la pausa de los anuncios.",
    "La causa fue el clima.",
    "Una baja impulsada por los anuncios.",
    "Las ventas cayeron, ya que no hubo anuncios.",
    "Esto se explica por el clima.",
    "La culpa es del clima.",
    "La pausa de los anuncios impactó las ventas.",
    "PORQUE LLOVIO",
];

const WRONG_WAY: &[&str] = &[
    "Las ventas se recuperaron.",
    "Las ventas no empeoraron.",
    "Las ventas subieron un 62 %.",
    "Las ventas aumentaron un 62 %.",
    "Las ventas crecieron el domingo.",
    "Las ventas estuvieron por encima de lo esperado.",
    "Se vendió un 62 % más.",
    "Hubo un alza del 62 %.",
    "Las ventas superaron lo esperado.",
    "Las ventas no cayeron.",
    "Las ventas nunca se desplomaron.",
    "El domingo no hubo una caída.",
];

const OTHER_LANGUAGE: &[&str] = &[
    "Revenue was 1.234,57 ARS.",
    "Las ventas fell and the store lost 1.234,57 ARS.",
    "As vendas foram de 1.234,57 ARS.",
    "As vendas caíram em março.",
    "Two things: check your campaigns.",
];

const REFUSED: [List; 5] = [
    (NO_FACT, |refusal| matches!(refusal, Refusal::Number(_))),
    (FALSE_CAUSE, |refusal| matches!(refusal, Refusal::Causal(_))),
    (WRONG_WAY, |refusal| matches!(refusal, Refusal::Direction(_))),
    (OTHER_LANGUAGE, |refusal| matches!(refusal, Refusal::Language(_) | Refusal::Number(_))),
    (&["Hay ١٢ productos.", "Hay １２ productos.", "Hay ½ pedido.", "Увидели 12 pedidos."], |refusal| {
        matches!(refusal, Refusal::Character(_))
    }),
];

#[test]
fn grounded_sentences_pass_whatever_way_their_accents_are_written() {
    assert_all_pass(GROUNDED, &shop("ARS"), ARGENTINA);
}

#[test]
fn other_sentences_are_refused_whatever_way_their_accents_are_written() {
    assert_all_refused(&REFUSED, &shop("ARS"), ARGENTINA);
}

#[test]
fn numbers_are_read_as_the_region_writes_them() {
    let grounds = shop("MXN");
    let said = |text: &str| say_in(text, &grounds, MEXICO);
    assert_eq!(said("Los ingresos fueron de $1,234.57 MXN."), Ok(()));
    assert_eq!(said("Gastaron $2.5 millones de pesos mexicanos."), Ok(()));
    for text in ["Los ingresos fueron de $1.234,57.", "Los ingresos fueron de $1.234.", "Hay 1.200 clientes."] {
        assert!(matches!(said(text), Err(Refusal::Number(_))), "{text}: {:?}", said(text));
    }
}
