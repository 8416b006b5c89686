/** The built script, in the encodings that browsers accept. */
import { readFileSync } from "node:fs";
import {
  hasCurrentBody,
  tagOf,
  type ApiResponse,
  type Exchange,
} from "../../../../src/api/index.ts";
import { builtPage, notBuilt } from "../../shared/server/assets.ts";
import { Compressible, preferredEncoding } from "../../shared/server/compressible.ts";

/** The highest quality. The script is small, and visitors of other websites wait for it. */
const brotliQuality = 11;

export class WidgetScript {
  readonly #bytes: Uint8Array;
  readonly #compressible: Compressible;
  readonly #tag: string;

  /** @throws TidingsError `not_configured` when the widget has not been built */
  constructor(subject: string) {
    const folder = builtPage("widget");
    try {
      this.#bytes = readFileSync(new URL("widget.js", folder));
    } catch (cause) {
      throw notBuilt(subject, folder, "its file widget.js is missing", cause);
    }
    this.#compressible = new Compressible(this.#bytes, brotliQuality);
    this.#tag = tagOf(this.#bytes);
  }

  /** The address of the script never changes, so browsers ask whether they have the newest. */
  async respond({ request, headers }: Exchange): Promise<ApiResponse> {
    const encoding = preferredEncoding(request);
    const tag = encoding === undefined ? this.#tag : `${this.#tag.slice(0, -1)}-${encoding}"`;
    const own = {
      ...headers,
      ETag: tag,
      "Cache-Control": "public, max-age=600, stale-while-revalidate=86400",
      // The script runs on pages of other origins, and contains nothing of the visitor.
      "Cross-Origin-Resource-Policy": "cross-origin",
      Vary: "Accept-Encoding",
    };
    if (hasCurrentBody(request.headers, tag)) return { status: 304, headers: own, body: null };
    const typed = { ...own, "Content-Type": "text/javascript; charset=utf-8" };
    if (encoding === undefined) return { status: 200, headers: typed, body: this.#bytes };
    const body = await this.#compressible.in(encoding);
    return { status: 200, headers: { ...typed, "Content-Encoding": encoding }, body };
  }
}
