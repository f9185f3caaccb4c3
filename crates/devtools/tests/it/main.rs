//! The connectors of shop platforms against the fakes of these platforms, over HTTP.

mod mercadolibre;
