import { checkUrl } from "../ports/index.ts";
import { invalid, TidingsError } from "../kernel/index.ts";
import type { Call } from "../operations/index.ts";

/**
 * The URL of an endpoint as it will be called: reading it twice must not make two of it.
 * @throws TidingsError `validation_failed` with why it may not be called; `not_configured`
 */
export function endpointUrl(text: string, { scope, services }: Call): string {
  if (services.destinations === undefined) {
    throw new TidingsError(
      "not_configured",
      "Nothing can be sent to webhooks: the engine has no option `http`.",
    );
  }
  const checked = checkUrl(text, services.destinations[scope.mode]);
  if (!checked.ok) {
    throw invalid([{ pointer: "/url", code: checked.code, message: checked.message }]);
  }
  return checked.url.href;
}
