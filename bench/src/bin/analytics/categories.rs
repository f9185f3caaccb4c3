//! Categories for the items of Online Retail, which has none: by a word of their names, as a shop owner would sort them.

/// With the beginnings of words that tell them; the first that fits counts.
const CATEGORIES: [(&str, &[&str]); 30] = [
    ("christmas", &["CHRISTMAS", "XMAS", "ADVENT", "SANTA", "SNOWMAN", "REINDEER", "BAUBLE"]),
    ("easter", &["EASTER", "BUNNY", "CHICK", "EGG"]),
    ("warmth", &["WARMER", "WATER BOTTLE"]),
    ("garden", &["GARDEN", "PLANT", "WATERING", "PARASOL", "PICNIC", "BIRD"]),
    ("jewellery", &["NECKLACE", "BRACELET", "EARRING", "RING", "BROOCH", "DIAMANTE", "CRYSTAL"]),
    ("party", &["PARTY", "BUNTING", "GARLAND", "BALLOON", "BIRTHDAY"]),
    ("candles", &["CANDLE", "T-LIGHT", "TEALIGHT", "LANTERN", "INCENSE"]),
    ("lights", &["LIGHT", "LAMP"]),
    ("bags", &["BAG", "PURSE", "SHOPPER"]),
    ("lunch", &["LUNCH", "SNACK", "BOTTLE"]),
    ("baking", &["CAKE", "BAKING", "JELLY", "COOKIE", "RECIPE"]),
    ("cards", &["CARD"]),
    ("wrapping", &["WRAP", "RIBBON", "TAPE", "TAG"]),
    ("writing", &["NOTEBOOK", "PENCIL", "PEN", "ERASER", "RULER", "STICKER", "PAPER"]),
    ("tableware", &["MUG", "CUP", "TEA", "COFFEE", "BOWL", "PLATE", "TRAY", "COASTER", "NAPKIN", "SPOON"]),
    ("kitchen", &["KITCHEN", "APRON", "JAM", "BREAD", "FOOD", "JUG", "PANTRY"]),
    ("glass", &["GLASS", "VASE"]),
    ("toys", &["TOY", "DOLL", "PLAY", "GAME", "PUZZLE", "SOLDIER", "SKITTLE", "CHILD", "KIDS", "SPACEBOY", "DOLLY"]),
    ("bath", &["SOAP", "BATH", "TISSUE", "TOWEL"]),
    ("clocks", &["CLOCK"]),
    ("signs", &["SIGN", "LETTER", "BLOCK"]),
    ("frames", &["FRAME", "PHOTO", "MIRROR", "PICTURE", "ART"]),
    ("cushions", &["CUSHION", "BLANKET", "QUILT", "RUG", "THROW"]),
    ("hall", &["DOORMAT", "DOOR", "HOOK", "HANGER", "UMBRELLA"]),
    ("storage", &["BOX", "TIN", "BASKET", "DRAWER", "CABINET", "STORAGE", "CASE"]),
    ("sewing", &["SEWING", "KNITTING", "CRAFT", "FELT"]),
    ("decoration", &["DECORATION", "HANGING", "HEART", "WREATH", "FEATHER"]),
    ("flowers", &["FLOWER", "ROSE"]),
    ("wall", &["WALL", "TILE", "SHELF", "RACK", "HOLDER", "STAND"]),
    ("sets", &["SET"]),
];

/// The category of an item by its name.
pub fn of_name(name: &str) -> Option<&'static str> {
    let name = format!(" {}", name.to_uppercase());
    let begins_a_word = |word: &&str| name.contains(&format!(" {word}"));
    CATEGORIES.iter().find(|(_, words)| words.iter().any(begins_a_word)).map(|(category, _)| *category)
}
