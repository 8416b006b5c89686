/** A file in the encodings that browsers accept. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type ApiRequest, headerOf } from "../../../../src/api/index.ts";

/** The encodings, the best one first. */
const encodings = ["br", "gzip"] as const;

export type Encoding = (typeof encodings)[number];

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** A file that is compressed at the first request for each encoding. */
export class Compressible {
  readonly #bytes: Uint8Array;
  readonly #quality: number;
  readonly #made = new Map<Encoding, Promise<Uint8Array>>();

  /** `quality` is that of Brotli, from 0 to 11. Quality 11 takes ten times as long as 9. */
  constructor(bytes: Uint8Array, quality: number) {
    this.#bytes = bytes;
    this.#quality = quality;
  }

  /** Returns the file in an encoding. */
  in(encoding: Encoding): Promise<Uint8Array> {
    let made = this.#made.get(encoding);
    if (made === undefined) this.#made.set(encoding, (made = this.#compress(encoding)));
    return made;
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
