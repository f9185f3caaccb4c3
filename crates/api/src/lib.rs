//! The HTTP edge: handlers, extractors, DTOs, errors, OpenAPI.
