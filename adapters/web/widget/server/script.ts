/** The built script, in the encodings that browsers take. */
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import {
  type ApiResponse,
  type Exchange,
  hasCurrent,
  headerOf,
  tagOf,
} from "../../../../src/api/index.ts";
import { TidingsError } from "../../../../src/kernel/index.ts";

/** The package's folder, from the built file or from this source. */
const root = new URL(import.meta.url.endsWith(".ts") ? "../../../../" : "../", import.meta.url);

const encoders = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const;

export class WidgetScript {
  readonly #bytes: Uint8Array;
  readonly #tag: string;
  readonly #encoded = new Map<keyof typeof encoders, Promise<Uint8Array>>();

  /** @throws TidingsError `not_configured` when the widget has not been built */
  constructor(subject: string) {
    const file = new URL("dist/web/widget/widget.js", root);
    try {
      this.#bytes = readFileSync(file);
    } catch (cause) {
      throw new TidingsError(
        "not_configured",
        `${subject}: the widget is not in ${file.href}. The published package contains it. In a ` +
          "copy of the repository, run `npm run compile`.",
        { detail: `${subject}: the widget has not been built.`, cause },
      );
    }
    this.#tag = tagOf(this.#bytes);
  }

  /** The address of the script never changes, so browsers ask whether they have the newest. */
  async respond({ request, headers }: Exchange): Promise<ApiResponse> {
    const accepted = headerOf(request.headers, "accept-encoding") ?? "";
    const encoding = (["br", "gzip"] as const).find((name) =>
      new RegExp(`(?:^|[,\\s])${name}(?!\\s*;\\s*q=0(?:\\.0*)?(?:,|$))(?:[,;\\s]|$)`).test(
        accepted,
      ),
    );
    const tag = encoding === undefined ? this.#tag : `${this.#tag.slice(0, -1)}-${encoding}"`;
    const own = {
      ...headers,
      ETag: tag,
      "Cache-Control": "public, max-age=600, stale-while-revalidate=86400",
      // The script runs on pages of other origins, and contains nothing of the visitor.
      "Cross-Origin-Resource-Policy": "cross-origin",
      Vary: "Accept-Encoding",
    };
    if (hasCurrent(request.headers, tag)) return { status: 304, headers: own, body: null };
    const typed = { ...own, "Content-Type": "text/javascript; charset=utf-8" };
    if (encoding === undefined) return { status: 200, headers: typed, body: this.#bytes };
    const body = await this.#encode(encoding);
    return { status: 200, headers: { ...typed, "Content-Encoding": encoding }, body };
  }

  #encode(encoding: keyof typeof encoders): Promise<Uint8Array> {
    let encoded = this.#encoded.get(encoding);
    if (encoded === undefined) {
      encoded = encoders[encoding](this.#bytes);
      this.#encoded.set(encoding, encoded);
    }
    return encoded;
  }
}
