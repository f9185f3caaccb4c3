ads = Anuncios
creatives = Creatividades
ads-account = Cuentas
ads-campaign = Campañas
ads-ad_set = Conjuntos
ads-ad = Anuncios
ads-account-title = Cuentas publicitarias, por lo gastado
ads-campaign-title = Campañas, por lo gastado
ads-ad_set-title = Conjuntos de anuncios, por lo gastado
ads-ad-title = Anuncios, por lo gastado
ads-totals-title = Todo junto, al lado de lo que ingresó la tienda
ads-none = No se sabe nada de publicidad en estos días. Importa un archivo de gasto en anuncios o conecta una plataforma.
ads-rows-none = En estos días no corrió nada en este nivel. Elige otros días u otro nivel.
ads-spend = Gasto
ads-clicks = Clics
ads-purchases = Compras (plataf.)
ads-revenue = Ingresos (plataf.)
ads-cpa = Gasto por compra
ads-roas = Ingresos por gasto (plataf.)
ads-own-revenue = Ingresos netos de la tienda
ads-mer = Ingresos netos de la tienda por gasto
ads-tacos = Gasto por ingresos netos de la tienda
ads-about = { $platform } · { $status }
ads-on-meta = Meta
ads-on-google = Google
ads-on-mercadolibre = Mercado Libre
ads-on-manual = Otra plataforma
ads-active = activo
ads-paused = en pausa
ads-archived = archivado
ads-lack-rates = Parte del gasto está en una moneda sin tipo de cambio: no está en ninguna suma. Importa los tipos de cambio.
ads-other-clock = Algunas cuentas tienen otra zona horaria que la tienda: una venta cerca de medianoche puede contarse un día antes o después.
how-ads = Sumas de lo que dicen plataformas y archivos. Compras e ingresos son lo que afirma la plataforma, con sus propias reglas; una raya es lo que no dice. Cada cociente es de sumas; el gasto por compra y los ingresos por gasto de la plataforma cuentan solo el gasto cuyo resultado se informa.
how-ads-own = Los ingresos netos de la tienda son de todos los pedidos de estos días, vengan de donde vengan.
creatives-title = Creatividades de cada campaña, las ganadoras primero
creatives-caveat = La plataforma elige quién ve cada anuncio, así que esto no es un experimento: a una ganadora le fue mejor donde se mostró.
creatives-none = Ninguna creatividad con este estado se mostró en estos días.
creatives-not-yet = Todavía no se comparó nada. Se hace cada noche.
creatives-all = Todas
creative = Creatividad
creative-verdict = Estado
creative-lift = Mejor en
creative-evidence = Evidencia (10 decide)
creative-winner = Ganadora
creative-leading = En cabeza
creative-testing = Sin diferencia clara
creative-insufficient_data = Faltan datos
creative-faded = Fue ganadora
creative-losing = Pierde
creative-video = Video
creative-image = Imagen
creative-carousel = Carrusel
creative-text = Texto
creative-unknown = Formato desconocido
needs = falta: { $what }
needs-purchases = { $purchases_n ->
    [one] { $purchases } compra
   *[other] { $purchases } compras
}
needs-days = { $days_n ->
    [one] { $days } día
   *[other] { $days } días
}
needs-spend = { $amount } de gasto
needs-others = compras de otras creatividades de su conjunto de anuncios en los mismos días
how-creatives = Cada creatividad se compara con las demás de su campaña, dentro de conjuntos y días, por lo comprado con el gasto. La evidencia vale por más veces que se mire. Los tres días más nuevos no cuentan, porque las plataformas aún les atribuyen compras.
how-creatives-lift = La diferencia que se muestra está moderada por lo que se sabe de diferencias así, con un rango que acierta 19 de cada 20 veces: las ganadoras suelen parecer mejores de lo que son.
how-creatives-needs = Hacen falta 10 compras de una creatividad, 100 de su campaña, 3 días, y tanto gasto como la mitad de las creatividades de la campaña. Solo más clics ponen a una creatividad en cabeza, y no la hacen ganadora.
