/** Checks responses against the OpenAPI document. */
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { ApiRoute } from "../../src/operations/api-route.ts";
import { openApi } from "../security/fields.ts";

/** A response, whichever way it came. */
export interface Answer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: true });
formats.default(ajv);
ajv.addSchema(openApi, "document");

const compiled = new Map<string, ValidateFunction>();

function validator(pointer: string): ValidateFunction {
  let validate = compiled.get(pointer);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `document#${pointer}` });
    compiled.set(pointer, validate);
  }
  return validate;
}

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

const problemPointer = "/components/schemas/Problem";

interface Responses {
  readonly [status: string]: { readonly content?: Readonly<Record<string, unknown>> };
}

/**
 * Throws if a response of the engine is not one that the document describes. `route` is undefined
 * for a request that may have reached any route or none.
 * @throws Error that says what differs
 */
export function checkAnswer(answer: Answer, route: ApiRoute | undefined, isHead = false): void {
  const { status, headers, body } = answer;
  const wrong = (why: string): never => {
    throw new Error(`${why}: ${status} ${JSON.stringify(headers)} ${body.slice(0, 2_000)}`);
  };
  if (!/^req_[0-9A-HJKMNP-TV-Z]{26}$/.test(headers["request-id"] ?? "")) wrong("no request id");
  if (status >= 500 && status !== 501) wrong("a server error");
  const type = headers["content-type"];
  if (status >= 400) {
    if (type !== "application/problem+json") wrong("an error that is no problem document");
    if (!isHead) checkJson(body, problemPointer, wrong);
    return;
  }
  if (route === undefined || status === 204 || isHead) return;
  const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
  const method = route.method.toLowerCase();
  const { responses } = (openApi.paths[path]?.[method] ?? {}) as unknown as {
    responses: Responses;
  };
  const key = [String(status), "2XX"].find((each) => each in responses);
  if (key === undefined) return wrong("a status that the document does not have");
  const content = Object.keys(responses[key]?.content ?? {});
  const known = content.find((each) => each === type || each === "*/*");
  if (known === undefined) return wrong("a content type that the document does not have");
  if (known !== "application/json") return;
  const place = `/paths/${escaped(path)}/${method}/responses/${key}/content/${escaped(known)}/schema`;
  checkJson(body, place, wrong);
}

function checkJson(body: string, pointer: string, wrong: (why: string) => never): void {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    wrong("not JSON");
  }
  const validate = validator(pointer);
  if (!validate(value)) wrong(`not as documented (${ajv.errorsText(validate.errors)})`);
}
