import { orderOf, type Index } from "../../src/ports/index.ts";
import { columnType, isNullable } from "./layout.ts";

/** Returns the first columns of `orderOf(index)`, as many as suffice to order all rows. */
export function sortColumns(index: Index): readonly string[] {
  const { collection, columns, unique, where } = index;
  const notNullColumn = where !== undefined && "present" in where ? where.column : undefined;
  if (
    unique &&
    !columns.some((column) => column !== notNullColumn && isNullable(collection, column))
  ) {
    return columns;
  }
  const all = orderOf(index);
  const position = all.findIndex((column) => columnType(collection, column) === "position");
  return position === -1 ? all : all.slice(0, position + 1);
}
