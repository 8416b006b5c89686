/** A file in the encodings that browsers take. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type ApiRequest, headerOf } from "../../../../src/api/index.ts";

/** The encodings, the best one first. */
const encodings = ["br", "gzip"] as const;

export type Encoding = (typeof encodings)[number];

const brotli = promisify(brotliCompress);
const deflate = promisify(gzip);

/** A file that is compressed at the first request for each encoding. */
export class Compressible {
  readonly #bytes: Uint8Array;
  readonly #quality: number;
  readonly #made = new Map<Encoding, Promise<Uint8Array>>();

  /** `quality` is that of Brotli, from 0 to 11. The highest one takes ten times as long as 9. */
  constructor(bytes: Uint8Array, quality: number) {
    this.#bytes = bytes;
    this.#quality = quality;
  }

  in(encoding: Encoding): Promise<Uint8Array> {
    let made = this.#made.get(encoding);
    if (made === undefined) this.#made.set(encoding, (made = this.#compress(encoding)));
    return made;
  }

  #compress(encoding: Encoding): Promise<Uint8Array> {
    if (encoding === "gzip") return deflate(this.#bytes);
    return brotli(this.#bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: this.#quality } });
  }
}

/** Returns the best encoding that the client takes. */
export function preferredEncoding({ headers }: ApiRequest): Encoding | undefined {
  const accepted = headerOf(headers, "accept-encoding") ?? "";
  const taken = accepted.split(",").filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each));
  const names = new Set(taken.map((each) => each.split(";", 1).join("").trim().toLowerCase()));
  return encodings.find((each) => names.has(each));
}
