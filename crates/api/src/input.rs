//! How what a request sends becomes the struct that describes it: serde reads it, `Validate` checks it, and a fault names the
//! field and says what it may be.

use std::{borrow::Cow, fmt};

use domain::instants::{self, InvalidInstant};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde::{
    Deserialize, Deserializer,
    de::{
        self, DeserializeOwned, DeserializeSeed, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
        value::MapAccessDeserializer,
    },
    forward_to_deserialize_any,
};
use serde_json::{Map, Value as Json, value::RawValue};
use time::OffsetDateTime;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{KnownFormat, RefOr, Schema, SchemaFormat, Type, schema::ObjectBuilder},
};
use validator::{Validate, ValidationError, ValidationErrorsKind};

use crate::{
    error::{ApiError, Code},
    names::FLAGS,
    path::{MUST_BE_POSITIVE, positive},
    warnings::{Warning, Warnings},
};

/// The fields of a body, or the parameters of a query.
pub trait Input: DeserializeOwned + Validate {
    /// Whether it is also read from `text/plain`, as which browsers send beacons.
    const IS_BEACON: bool = false;
    /// Whether no body at all is as good as an object without fields.
    const IS_OPTIONAL: bool = false;

    /// A parameter that asks for what a file does not have, if one does.
    fn not_in_files(&self) -> Option<&'static str> {
        None
    }

    /// What a faulty `field` is answered with.
    fn fault(_field: &str) -> ApiError {
        ApiError::new(Code::InvalidParameter)
    }
}

/// What is wrong with a field.
#[derive(Debug)]
pub struct Fault {
    field: Option<String>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Missing,
    Twice,
    /// Completes "`field` …"; with the values that it may have, where they are few.
    Wrong(String, Option<&'static [&'static str]>),
    /// A text that holds half a surrogate pair.
    Undecodable,
}

impl Fault {
    const fn new(kind: Kind) -> Self {
        Self { field: None, kind }
    }

    fn within(mut self, field: &str) -> Self {
        match &mut self.field {
            // Of a field of an object that `field` holds.
            Some(known) if known.starts_with('.') => known.insert_str(0, field),
            Some(_) => {}
            none => *none = Some(field.to_owned()),
        }
        self
    }

    /// Of a field of an object that is a value itself.
    fn nested(mut self) -> Self {
        self.field = self.field.map(|field| format!(".{field}"));
        self
    }

    /// Of a value that is well-formed JSON, but has more levels than are read or a number beyond all floats.
    fn of_json(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        if text.starts_with("recursion limit") {
            return de::Error::custom("is nested too deep");
        }
        if text.starts_with("number out of range") {
            return de::Error::custom("holds a number beyond the range of a double");
        }
        if error.is_data() {
            return de::Error::custom("cannot be read");
        }
        Self::new(Kind::Undecodable)
    }

    fn into_error(self, fault_of: impl Fn(&str) -> ApiError) -> ApiError {
        let field = self.field.unwrap_or_default();
        // The message names a field within an object, `param` the field of the body that is the object.
        let param = field.split_once('.').map_or(field.as_str(), |(outer, _)| outer).to_owned();
        let error = match self.kind {
            Kind::Missing => ApiError::new(Code::MissingParameter).message(format!("`{field}` is required.")),
            Kind::Twice => ApiError::parameter(&field, "is given more than once"),
            Kind::Undecodable => ApiError::new(Code::InvalidJson),
            Kind::Wrong(fault, None) => fault_of(&param).message(format!("`{field}` {fault}.")),
            Kind::Wrong(fault, Some(allowed)) => {
                fault_of(&param).message(format!("`{field}` {fault}.")).allowed(allowed)
            }
        };
        error.param(param)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Fault {}

/// What serde expects, in words of the people who send it.
fn wanted(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    match expected.as_str() {
        "a string" => "a text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "i64" | "i32" | "u64" | "u32" => "a whole number".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "an object".to_owned(),
        _ => expected,
    }
}

impl de::Error for Fault {
    /// `fault` completes "`field` …".
    fn custom<T: fmt::Display>(fault: T) -> Self {
        Self::new(Kind::Wrong(fault.to_string(), None))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("must be {}", wanted(expected)))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("must be {}", wanted(expected)))
    }

    fn unknown_variant(_: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(Kind::Wrong(format!("must be one of {}", allowed.join(", ")), Some(allowed)))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Kind::Missing).within(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(Kind::Twice).within(field)
    }
}

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As JSON; null is as good as absent.
    Json,
    /// As JSON within an array, where null is a value.
    Element,
    /// As the text of a parameter.
    Parameter,
}

/// Reads a struct from `fields`. Gives the names of those that it does not have as well, `a.b` of an object `a`.
pub fn read<'a, T: Input>(
    form: Form,
    fields: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Result<(T, Vec<String>), ApiError> {
    let mut unknown = Vec::new();
    let named = fields.clone().map(|(name, text)| (Cow::Borrowed(name), text));
    let reading = Fields { fields: named, form, unknown: &mut unknown, next: None };
    let read = T::deserialize(MapAccessDeserializer::new(reading)).map_err(|mut fault| {
        // Whatever is wrong with the first of two, that there are two is said first.
        if fields.filter(|(name, _)| fault.field.as_deref() == Some(*name)).nth(1).is_some() {
            fault.kind = Kind::Twice;
        }
        fault.into_error(T::fault)
    })?;
    Ok((read, unknown))
}

/// The first of what `Validate` found, by the name of the field.
pub fn check<T: Input>(input: &T) -> Result<(), ApiError> {
    let Err(errors) = input.validate() else { return Ok(()) };
    let errors = errors.field_errors();
    let first = errors.iter().min_by_key(|(field, _)| field.as_ref().to_owned());
    let Some((field, Some(error))) = first.map(|(field, errors)| (field.as_ref(), errors.first())) else {
        return Err(ApiError::new(Code::InvalidBody));
    };
    let fault = Fault::new(Kind::Wrong(told(error), None)).within(field);
    Err(fault.into_error(T::fault))
}

/// The same of parameters that are clamped, where that is no fault unless handling is strict: a warning for each.
pub fn clamped<T: Input>(params: &T, strict: bool) -> Result<Warnings, ApiError> {
    let mut warnings = Warnings::new();
    let Err(errors) = params.validate() else { return Ok(warnings) };
    for (field, kind) in errors.errors() {
        let ValidationErrorsKind::Struct(clamped) = kind else { return check(params).map(|()| warnings) };
        for error in clamped.field_errors().into_values().flatten() {
            if error.code == "range" {
                return Err(ApiError::parameter(field, &told(error)));
            }
            let number = |name| error.params.get(name).and_then(Json::as_i64);
            let (requested, applied) = (number("requested"), number("applied"));
            if strict {
                return Err(ApiError::parameter(field, &format!("must be at most {}", applied.unwrap_or_default())));
            }
            warnings.push(Warning { code: "limit_clamped", param: field.to_string(), requested, applied });
        }
    }
    warnings.sort_by(|a, b| a.param.cmp(&b.param));
    Ok(warnings)
}

/// What a rule of `Validate` asks for.
fn told(error: &ValidationError) -> String {
    if let Some(message) = &error.message {
        return message.to_string();
    }
    let (min, max) = (error.params.get("min"), error.params.get("max"));
    match (error.code.as_ref(), min, max) {
        ("range", Some(min), Some(max)) => format!("must be a whole number from {min} to {max}"),
        ("range", Some(min), None) => format!("must be a whole number of at least {min}"),
        ("length", Some(min), Some(max)) => format!("must have {min} to {max} characters or values"),
        ("length", None, Some(max)) => format!("must have at most {max} characters"),
        ("length", Some(min), None) => format!("must have at least {min}"),
        ("does_not_contain", ..) => "must not hold U+0000".to_owned(),
        _ => "is not valid".to_owned(),
    }
}

struct Fields<'u, 'a, I> {
    fields: I,
    form: Form,
    unknown: &'u mut Vec<String>,
    next: Option<(Cow<'a, str>, &'a str)>,
}

impl<'a, I: Iterator<Item = (Cow<'a, str>, &'a str)>> MapAccess<'a> for Fields<'_, 'a, I> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        self.next = self.fields.next();
        self.next.as_ref().map(|(name, _)| seed.deserialize(name.as_ref().into_deserializer())).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let Some((name, text)) = self.next.take() else { return Err(Fault::new(Kind::Missing)) };
        let before = self.unknown.len();
        let value = Value { text, form: self.form, unknown: self.unknown };
        let read = seed.deserialize(value).map_err(|fault| fault.within(&name));
        for unknown in self.unknown.iter_mut().skip(before) {
            *unknown = if unknown.is_empty() { name.to_string() } else { format!("{name}.{unknown}") };
        }
        read
    }
}

/// A value as it was sent.
struct Value<'u, 'a> {
    text: &'a str,
    form: Form,
    /// Gets what no field takes: the names of fields within this one, or an empty one for itself.
    unknown: &'u mut Vec<String>,
}

impl<'a> Value<'_, 'a> {
    fn decoded<T: Deserialize<'a>>(&self) -> Result<T, Fault> {
        serde_json::from_str(self.text).map_err(|error| Fault::of_json(&error))
    }
}

impl<'de> Deserializer<'de> for Value<'_, 'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.form == Form::Parameter {
            return visitor.visit_str(self.text);
        }
        match self.text.as_bytes().first() {
            Some(b'n') => Err(Fault::new(Kind::Missing)),
            Some(b'"') => visitor.visit_string(self.decoded()?),
            Some(b't' | b'f') => visitor.visit_bool(self.decoded()?),
            Some(b'[') => {
                let elements = self.decoded::<Vec<&RawValue>>()?.into_iter();
                visitor.visit_seq(Elements { elements, unknown: self.unknown })
            }
            Some(b'{') => Err(de::Error::invalid_type(Unexpected::Map, &visitor)),
            _ => match whole(self.text) {
                Some(number) => visitor.visit_i64(number),
                // Not whole, or beyond all numbers that a field may have.
                None => visitor.visit_f64(self.text.parse().unwrap_or(f64::INFINITY)),
            },
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.form == Form::Parameter || !self.text.starts_with('{') {
            return self.deserialize_any(visitor);
        }
        let mut object = serde_json::Deserializer::from_str(self.text);
        object.deserialize_map(visitor).map_err(|error| Fault::of_json(&error))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match (self.form, self.text) {
            (Form::Json | Form::Element, _) => self.deserialize_any(visitor),
            (Form::Parameter, "1" | "true") => visitor.visit_bool(true),
            (Form::Parameter, "0" | "false") => visitor.visit_bool(false),
            (Form::Parameter, other) => Err(de::Error::unknown_variant(other, FLAGS)),
        }
    }

    /// A parameter is a [`positive`] number.
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.form != Form::Parameter {
            return self.deserialize_any(visitor);
        }
        visitor.visit_i64(positive(self.text).ok_or_else(|| de::Error::custom(MUST_BE_POSITIVE))?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let is_null = self.form != Form::Parameter && self.text == "null";
        if is_null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.form {
            Form::Parameter => visitor.visit_enum(self.text.into_deserializer()),
            _ if self.text == "null" => Err(Fault::new(Kind::Missing)),
            _ if !self.text.starts_with('"') => Err(de::Error::unknown_variant(self.text, variants)),
            _ => visitor.visit_enum(self.decoded::<String>()?.into_deserializer()),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Fault> {
        if self.form == Form::Parameter {
            return visitor.visit_newtype_struct(self);
        }
        if self.form == Form::Json && self.text == "null" {
            return Err(Fault::new(Kind::Missing));
        }
        // What is to be kept as it was sent, which only serde_json knows how to ask for.
        let mut raw = serde_json::Deserializer::from_str(self.text);
        raw.deserialize_newtype_struct(name, visitor).map_err(|error| Fault::of_json(&error))
    }

    /// By the names of the fields, as the struct of the whole body.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if self.form == Form::Parameter || self.text == "null" {
            return self.deserialize_any(visitor);
        }
        if !self.text.starts_with('{') {
            return Err(de::Error::custom("must be an object"));
        }
        let mut object = serde_json::Deserializer::from_str(self.text);
        let members = object.deserialize_map(Members).map_err(|error| Fault::of_json(&error))?;
        let fields = members.into_iter().map(|(name, raw)| (Cow::Owned(name), raw.get()));
        visitor.visit_map(Fields { fields, form: Form::Json, unknown: self.unknown, next: None }).map_err(Fault::nested)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.unknown.push(String::new());
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct
        identifier
    }
}

/// The elements of an array.
struct Elements<'u, 'a> {
    elements: std::vec::IntoIter<&'a RawValue>,
    unknown: &'u mut Vec<String>,
}

impl<'a> SeqAccess<'a> for Elements<'_, 'a> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(element) = self.elements.next() else { return Ok(None) };
        let element = Value { text: element.get(), form: Form::Element, unknown: self.unknown };
        seed.deserialize(element).map(Some).map_err(|mut fault| {
            fault.kind = match fault.kind {
                // Of a field of the element.
                kind if fault.field.is_some() => kind,
                Kind::Wrong(fault, allowed) => Kind::Wrong(format!("is an array of which each value {fault}"), allowed),
                Kind::Missing => Kind::Wrong("must not hold null".to_owned(), None),
                other => other,
            };
            fault
        })
    }
}

/// Collects the members of an object without reading their values, so that no depth of nesting costs any stack.
pub struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

/// The object that the field `name` of `T` is, decoded.
pub fn object<T: Input>(name: &str, raw: &RawValue) -> Result<Map<String, Json>, ApiError> {
    let value = Value { text: raw.get(), form: Form::Element, unknown: &mut Vec::new() };
    Map::deserialize(value).map_err(|fault| fault.within(name).into_error(T::fault))
}

/// A number, exactly as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number(pub Decimal);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        let text = raw.get();
        if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            return Err(de::Error::custom("must be a number"));
        }
        decimal(text).map(Self).ok_or_else(|| de::Error::custom("must be a number of at most 28 digits"))
    }
}

/// The number that JSON writes so; none where a decimal has not as many digits.
fn decimal(text: &str) -> Option<Decimal> {
    // Of digits that do not fit, others than this parser leave some out.
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let number = Decimal::from_str_exact(digits).ok()?;
    if digits.len() == text.len() { Some(number) } else { Decimal::from_scientific(text).ok() }
}

/// The same where it is whole, also as a fraction: 24.0 is 24.
fn whole(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| decimal(text).filter(Decimal::is_integer)?.to_i64())
}

/// How days and instants begin that are accepted: with a year from 1970 to 2999.
pub const YEARS: &str = "^(19[7-9]|2[0-9]{2})[0-9]-";

/// An instant in RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp(pub OffsetDateTime);

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        instants::parse(&text).map(Self).map_err(|invalid| match invalid {
            InvalidInstant::Form => de::Error::custom("must be RFC 3339"),
            InvalidInstant::Range => de::Error::custom(invalid),
        })
    }
}

impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .pattern(Some(YEARS))
            .into()
    }
}

impl ToSchema for Timestamp {}
