/** A file in the encodings that browsers accept. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { headerOf, type ApiRequest } from "../../../../src/api/index.ts";

/** The encodings, the best one first. */
const encodings = ["br", "gzip"] as const;

export type Encoding = (typeof encodings)[number];

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/**
 * The compressed files of all mounts in this process, by encoding, quality and content. They are
 * the built files of the package, so there are few.
 */
const made = new Map<string, Promise<Uint8Array>>();

/** A file that is compressed at the first request for each encoding, once in the process. */
export class Compressible {
  readonly #bytes: Uint8Array;
  readonly #quality: number;
  readonly #digest: string;

  /** `quality` is that of Brotli, from 0 to 11. Quality 11 takes ten times as long as 9. */
  constructor(bytes: Uint8Array, quality: number) {
    this.#bytes = bytes;
    this.#quality = quality;
    this.#digest = createHash("sha256").update(bytes).digest("base64");
  }

  /** Returns the file in an encoding. */
  in(encoding: Encoding): Promise<Uint8Array> {
    const key = `${encoding} ${this.#quality} ${this.#digest}`;
    let bytes = made.get(key);
    if (bytes === undefined) made.set(key, (bytes = this.#compress(encoding)));
    return bytes;
  }

  #compress(encoding: Encoding): Promise<Uint8Array> {
    if (encoding === "gzip") return compressGzip(this.#bytes);
    return compressBrotli(this.#bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: this.#quality },
    });
  }
}

/** Returns the best encoding that the client accepts. Undefined if it accepts none. */
export function preferredEncoding({ headers }: ApiRequest): Encoding | undefined {
  const accepted = headerOf(headers, "accept-encoding") ?? "";
  const allowed = accepted.split(",").filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each));
  const names = new Set(allowed.map((each) => each.split(";", 1).join("").trim().toLowerCase()));
  return encodings.find((each) => names.has(each));
}
