/**
 * The words of a page. A page declares its texts in files named `texts.ts`, and the host
 * application can override each of them by its key.
 */

/** One text, or one for each plural category of the number `count`. */
export type Text = string | { readonly [category in Intl.LDMLPluralRule]?: string };

/** Texts by key. */
export type Texts = Readonly<Record<string, Text>>;

/** What fills the `{name}` places of a text. */
export type TextValues = Readonly<Record<string, string | number>>;

/** Returns the text of a key. */
export type Translate<Key extends string> = (key: Key, values?: TextValues) => string;

let overrides: Texts = {};
let locale = "en";
let direction: "ltr" | "rtl" = "ltr";
let plurals = new Intl.PluralRules(locale);
let numbers = new Intl.NumberFormat(locale);

/** The language that texts and formats use, as a BCP 47 tag. */
export const currentLocale = (): string => locale;

/** The direction of writing of that language. */
export const currentDirection = (): "ltr" | "rtl" => direction;

/** Sets the language and the host application's texts. What is rendered later has them. */
export function configureTexts(options: { locale?: string | undefined; texts?: Texts }): void {
  overrides = options.texts ?? {};
  // Some systems report a language with a suffix that `Intl` refuses: `de-CH@posix`.
  const browserLocale = navigator.language.replace(/[.@].*$/, "");
  locale = canonical(options.locale) ?? canonical(browserLocale) ?? "en";
  plurals = new Intl.PluralRules(locale);
  numbers = new Intl.NumberFormat(locale);
  direction = isRightToLeft(locale) ? "rtl" : "ltr";
}

/** Declares texts. The result returns each, with its places filled. */
export function defineTexts<Defaults extends Texts>(
  defaults: Defaults,
): Translate<keyof Defaults & string> {
  return (key, values = {}) => {
    const text = overrides[key] ?? defaults[key] ?? key;
    const form = typeof text === "string" ? text : pluralForm(text, Number(values["count"]));
    return form.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
      const value = values[name];
      if (value === undefined) return place;
      return typeof value === "number" ? numbers.format(value) : isolated(value);
    });
  };
}

const rightToLeftText =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const directionControls = /[\u202a-\u202e\u2066-\u2069]/g;

/** Encloses a value of another direction than its sentence, so that it reorders no other words. */
function isolated(value: string): string {
  const plain = value.replaceAll(directionControls, "");
  return direction === "rtl" || rightToLeftText.test(plain) ? `\u2068${plain}\u2069` : plain;
}

function pluralForm(text: Exclude<Text, string>, count: number): string {
  return text[plurals.select(count)] ?? text.other ?? "";
}

/** Returns a language tag in its canonical form. Undefined if it is not valid. */
function canonical(tag: string | undefined): string | undefined {
  if (tag === undefined || tag === "") return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

const rightToLeftLanguages = new Set([
  "ar",
  "arc",
  "ckb",
  "dv",
  "fa",
  "he",
  "ks",
  "ps",
  "sd",
  "ug",
  "ur",
  "yi",
]);

const rightToLeftScripts = new Set(["Adlm", "Arab", "Hebr", "Nkoo", "Syrc", "Thaa"]);

function isRightToLeft(tag: string): boolean {
  const { language, script } = new Intl.Locale(tag);
  if (script !== undefined) return rightToLeftScripts.has(script);
  return rightToLeftLanguages.has(language);
}
