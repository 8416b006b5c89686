/** Schemas of fields that resources share: ids, times, addresses, texts, authors. */
import * as z from "zod";
import { show } from "./describe.ts";
import { ulidSource, wrongKind } from "./ids.ts";
import type { Limits } from "./limits.ts";
import { toUri } from "./uri.ts";

const ulid = z.string().regex(new RegExp(ulidSource));

/**
 * Ids in responses. Inputs use `reference`, so that a malformed id is not found, like any unknown
 * id.
 */
export const ids = {
  account: z.templateLiteral(["acct_", ulid]),
  key: z.templateLiteral(["key_", ulid]),
  sender: z.templateLiteral(["snd_", ulid]),
  message: z.templateLiteral(["msg_", ulid]),
  contact: z.templateLiteral(["ct_", ulid]),
  conversation: z.templateLiteral(["conv_", ulid]),
  note: z.templateLiteral(["note_", ulid]),
  agent: z.templateLiteral(["agt_", ulid]),
  playbook: z.templateLiteral(["pb_", ulid]),
  run: z.templateLiteral(["run_", ulid]),
  observation: z.templateLiteral(["obs_", ulid]),
  webhook: z.templateLiteral(["wh_", ulid]),
  delivery: z.templateLiteral(["dlv_", ulid]),
  attempt: z.templateLiteral(["att_", ulid]),
  event: z.templateLiteral(["evt_", ulid]),
  webchatSession: z.templateLiteral(["wcs_", ulid]),
};

/** A playbook of an agent or of a step. A draft may name one that does not exist. */
export const playbookReference = z.string().regex(new RegExp(`^pb_${ulidSource}$`), {
  error: 'must be the id of a playbook: "pb_" and 26 characters',
});

/** A name or id to look up. Bounded, and without characters that no database can store. */
export const reference = z
  .string()
  .min(1)
  .max(200)
  .refine(isStorable, { error: "must not contain NUL or half a surrogate pair" });

/** The id in a filter. An id of another kind is refused. An id that does not exist is not. */
export const filterById = (noun: "contact" | "conversation"): z.ZodType<string> =>
  reference.refine((id) => wrongKind(noun, id) === undefined, {
    error: ({ input }) => wrongKind(noun, String(input)),
  });

/** A time in a response: ISO 8601 in UTC with milliseconds and `Z`. */
export const timestamp = z.iso.datetime({ precision: 3 });

const firstTime = Date.parse("0001-01-01T00:00:00.000Z");
const lastTime = Date.parse("9999-12-31T23:59:59.999Z");

/** Whether a response can show a time of an input. An offset can move the time to another year. */
function isShowable(text: string): boolean {
  const ms = Date.parse(text);
  return ms >= firstTime && ms <= lastTime;
}

const inYears = "in the years 1 to 9999 in UTC";

/**
 * A time in an input: ISO 8601 with seconds and `Z` or an offset, in the years 1 to 9999 in UTC.
 * Digits beyond milliseconds are ignored.
 */
export const instant = z.iso
  .datetime({
    offset: true,
    abort: true,
    error: mustBe('a time with seconds and Z or an offset, such as "2026-01-31T09:00:00Z"'),
  })
  .refine(isShowable, { error: mustBe(`a time ${inYears}`) });

/** A day in a response, such as `2026-01-31`. */
export const day = z.iso.date();

/** A day in an input, in the years 1 to 9999. */
export const dayInput = z.iso
  .date({ abort: true, error: mustBe('a day, such as "2026-01-31"') })
  .refine(isShowable, { error: mustBe(`a day ${inYears}`) });

/** Makes the error of a field. A missing field has the standard error. */
function mustBe(what: string) {
  return ({ input }: { readonly input?: unknown }): string | undefined => {
    if (input === undefined) return undefined;
    return `must be ${what}, got ${show(input)}`;
  };
}

export const modeSchema = z.enum(["sandbox", "live"]);
/** E.164 (ITU-T): `+` and 7 to 15 digits, the first not 0. */
export const phonePattern = /^\+[1-9]\d{6,14}$/;
export const phone = z
  .string()
  .regex(phonePattern, { error: "must be a phone number: + and 7 to 15 digits (E.164)" });

const addressPattern = /^[+A-Za-z0-9][A-Za-z0-9 ._:@-]{0,63}$/;

/** Whether a text has the form of an address: a phone number, short code, name or inbox. */
export function isAddress(text: string): boolean {
  return addressPattern.test(text);
}

/** The address of a sender at its carrier: a phone number, short code, name or webchat inbox. */
export const senderAddress = z
  .string()
  .regex(addressPattern, { error: "must be a phone number, short code, name or inbox" })
  // Carriers report numbers in E.164, so messages to a number in another form would find no sender.
  .refine((address) => !address.startsWith("+") || phonePattern.test(address), {
    error: "must be + and 7 to 15 digits (E.164) if it begins with +",
  });

/** Databases cannot store NUL or lone surrogates in text. */
function isStorable(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}

/** Counts without a copy: a text that is refused may be as large as a body. */
function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1) count++;
  return count;
}

/** Text of up to `max` Unicode code points, the unit in which JSON Schema counts. */
export function text(max: number): z.ZodString {
  return z
    .string()
    .refine(
      (value) => value.length <= max || (value.length <= 2 * max && countCodePoints(value) <= max),
      {
        error: ({ input }) =>
          `must have at most ${max} characters, got ${countCodePoints(String(input))}`,
      },
    )
    .refine(isStorable, { error: "must not contain NUL or half a surrogate pair" })
    .meta({ maxLength: max });
}

/** Text that is not blank. */
export function name(max: number): z.ZodString {
  return text(max)
    .refine((value) => value.trim() !== "", { error: "must not be blank" })
    .meta({ pattern: String.raw`\S` });
}

/** A list that has no item twice. */
export function distinct<Item extends z.ZodType<string>>(
  list: z.ZodArray<Item>,
  error = "must not contain duplicates",
): z.ZodType<readonly z.output<Item>[], readonly z.input<Item>[]> {
  const checked = list.refine((items) => new Set(items).size === items.length, { error });
  return readonlyList(checked).meta({ uniqueItems: true });
}

/** Gives the list of an input a read-only type, so that callers can pass constants. */
export const readonlyList = <Item extends z.ZodType>(
  list: z.ZodArray<Item>,
): z.ZodType<readonly z.output<Item>[], readonly z.input<Item>[]> => list;

export const webUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL" })
  .overwrite(toUri)
  .max(2_048, { error: "must have at most 2048 characters" });

/** The host application's data about a resource. The engine never reads it. */
export type Metadata = Record<string, string>;
export const metadata: z.ZodType<Metadata> = z.record(z.string(), z.string());

export function metadataInput(limits: Limits): z.ZodType<Metadata> {
  const entries = z
    .record(text(64).min(1), text(limits.metadataCharacters))
    .meta({ maxProperties: limits.metadataKeys });
  return wholeRecord(entries, limits.metadataKeys);
}

/**
 * Refuses the key `__proto__`, which a zod record would drop silently, and more than `maxKeys`
 * keys, with the error code `code`. The values are not read then, since there can be very many.
 */
export function wholeRecord<T>(
  record: z.ZodType<T>,
  maxKeys: number,
  code = "invalid",
): z.ZodType<T> {
  return z.preprocess((value, context) => {
    if (typeof value !== "object" || value === null) return value;
    if (Object.hasOwn(value, "__proto__")) {
      context.addIssue({
        code: "custom",
        message: "must not have the key __proto__",
        path: ["__proto__"],
      });
    }
    const keys = Object.keys(value).length;
    if (keys > maxKeys) {
      const message = `must have at most ${maxKeys} keys, got ${keys}`;
      context.addIssue({ code: "custom", message, params: { code } });
      return value;
    }
    return withoutUndefined(value);
  }, record);
}

/** In process, an entry that is undefined counts as left out, as in JSON. */
function withoutUndefined(value: object): object {
  const isWhole = Array.isArray(value) || !Object.values(value).includes(undefined);
  if (isWhole) return value;
  return definedFields(value);
}

/** Returns an object without the fields that are undefined. */
export function definedFields<T extends object>(
  of: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const fields = Object.entries(of).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** An integer in a query string, where every value is a string. */
export function queryInteger(min: number, max: number): z.ZodType<number> {
  return z.preprocess(
    (value) => (typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value),
    z.int().min(min).max(max),
  );
}

/** A boolean in a query string. */
export const queryBoolean: z.ZodType<boolean> = z.preprocess(
  (value) => (value === "true" ? true : value === "false" ? false : value),
  z.boolean(),
);

/**
 * The `when` of a rule about several fields. The rule then runs even if other fields are invalid,
 * so that one response lists all errors. It must not rely on the types of the fields.
 */
export function isObjectGiven({ value }: { readonly value: unknown }): boolean {
  return typeof value === "object" && value !== null;
}

/** The input of an operation that takes none. */
export const noInput = z.strictObject({});

/** The input of an operation whose path has one id. */
export interface ById {
  /** The id of the resource. */
  readonly id: string;
}

export const byIdSchema = z.strictObject({ id: reference }).meta({ interface: "ById" });

/**
 * Adds the fields that are in the path of a route to the schema of an input. In process, they are
 * arguments of their own, so the type of the input does not have them.
 */
export function withPath<Input extends z.ZodObject, Path extends z.ZodRawShape>(
  input: Input,
  path: Path,
): z.ZodType<z.output<Input> & z.output<z.ZodObject<Path>>> {
  // The fields of the path come first, and so do their errors. A clone keeps the checks.
  const shape = { ...path, ...input.shape };
  const whole = input.clone({ ...input.def, shape }).meta({ ...input.meta() });
  // The cast is safe: the compiler cannot compute the fields of a shape that it does not know.
  return whole as z.ZodType as z.ZodType<z.output<Input> & z.output<z.ZodObject<Path>>>;
}

/** A field in the path of a route. `about` is its description in the OpenAPI document. */
export function pathField(about: string): typeof reference {
  return reference.meta({ description: about });
}

/** Adds the id of a resource to the schema of an input. `about` is its description. */
export function withId<Input extends z.ZodObject>(
  input: Input,
  about: string,
): z.ZodType<z.output<Input> & ById> {
  return withPath(input, { id: pathField(about) });
}

/** The author of a message or a note. */
export interface Author {
  /**
   * `api`: a program. `human`: a person of the host application. `agent`: an AI agent. `contact`:
   * the contact. `system`: the engine, for example its answer to a keyword.
   */
  readonly type: "api" | "human" | "agent" | "contact" | "system";
  /** The id of the API key, agent or contact, or the host application's id of a person. */
  readonly id?: string | undefined;
}

export const authorSchema = z
  .strictObject({
    type: z.enum(["api", "human", "agent", "contact", "system"]),
    id: z.string().optional(),
  })
  .meta({ id: "Author" });

const recipientPattern = /^(?:\+[1-9]\d{6,14}|ct_[0-9A-Za-z]{1,64})$/;

export const recipientSchema = z
  .string()
  .refine((value) => recipientPattern.test(value), {
    error: "must be a phone number (E.164: + and 7 to 15 digits) or a contact's id",
  })
  .meta({ pattern: recipientPattern.source, examples: ["+15005550001"] });

/** Has the type of `schema` and is documented like it in OpenAPI, but accepts any value. */
export function documentedAs<T>(schema: z.ZodType<T>): z.ZodType<T, T> {
  const { id = "" } = schema.meta() ?? {};
  const { $defs } = z.toJSONSchema(schema, { io: "input" });
  return z.any().meta({ ...$defs?.[id], id });
}
