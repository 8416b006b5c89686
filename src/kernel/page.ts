/** The pages of lists: what a list takes and returns. */
import * as z from "zod";
import { queryInteger } from "./fields.ts";

/**
 * One page of a list. `next_cursor` is null on the last page. A page examines at most 1,000 rows,
 * so a filtered page may have fewer rows than requested, or none, and still not be the last. A page
 * of very large rows ends after about 2 million characters.
 */
export interface Page<T> {
  /** The items of this page. */
  data: T[];
  /** True if there may be further pages. */
  has_more: boolean;
  /** The `cursor` of the next page. Null on the last page. */
  next_cursor: string | null;
}

export const defaultPageSize = 20;

/** The query parameters of every list. */
export interface PageQuery {
  /**
   * Maximum number of items, at most 100. By default 20. A page may have fewer; continue while
   * `has_more` is true.
   */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. */
  readonly cursor?: string | null | undefined;
}

export const pageFields = {
  limit: queryInteger(1, 100).optional(),
  // A loop in process begins with null. Over HTTP every value is a string.
  cursor: z.preprocess((value) => value ?? undefined, z.string().optional()).optional(),
};

export const pageQuerySchema = z.strictObject(pageFields).meta({ interface: "PageQuery" });

type PageSchema<T> = z.ZodObject<
  {
    data: z.ZodArray<z.ZodType<T>>;
    has_more: z.ZodBoolean;
    next_cursor: z.ZodNullable<z.ZodString>;
  },
  z.core.$strict
>;

export function pageSchema<T>(item: z.ZodType<T>): PageSchema<T> {
  return z
    .strictObject({
      data: z.array(item),
      has_more: z.boolean(),
      next_cursor: z.string().nullable(),
    })
    .meta({ interface: "Page" });
}
