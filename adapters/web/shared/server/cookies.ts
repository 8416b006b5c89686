/** The cookies of pages and of the chat widget. */
import { headerOf } from "../../../../src/api/index.ts";

/**
 * Returns the port in the address of a request. Browsers share cookies between the ports of a host,
 * so the name of a cookie contains the port.
 */
export function portOf(headers: readonly string[]): string | undefined {
  return /:(\d{1,5})$/.exec(headerOf(headers, "host") ?? "")?.[1];
}

/**
 * Returns the values of all cookies with a name, in the order of the headers. HTTP/2 may split the
 * header. A comma is a part of a value: a stranger's link may decide the value of another cookie,
 * and must not add a cookie by it.
 */
export function cookiesOf(headers: readonly string[], name: string): readonly string[] {
  return headers
    .filter((_, i) => i % 2 === 1 && headers[i - 1]?.toLowerCase() === "cookie")
    .flatMap((header) => header.split(";"))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}
