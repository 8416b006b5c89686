import type { ComponentChildren, JSX } from "preact";

/** One column of a table. */
export interface Column<Row> {
  /** Differs from those of the other columns. */
  readonly label: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumeric?: boolean;
  /** Only screen readers have the label, because the cells explain themselves. */
  readonly isLabelHidden?: boolean;
}

interface TableProps<Row> {
  /** What the table shows, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Opens a row. The first cell becomes a link. */
  readonly linkOf?: (row: Row) => string;
}

/**
 * A table of at most some hundred rows. A wide one scrolls sideways within its box. On a phone,
 * each row is a block of labeled values.
 */
export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { label, columns, rows, keyOf, linkOf } = props;
  return (
    <div class="table-box" role="region" aria-label={label} tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            {columns.map(({ label, isNumeric, isLabelHidden }) => (
              <th key={label} scope="col" class={isNumeric === true ? "is-numeric" : undefined}>
                {isLabelHidden === true ? <span class="visually-hidden">{label}</span> : label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ label, cell, isNumeric, isLabelHidden }, index) => (
                <td
                  key={label}
                  class={isNumeric === true ? "is-numeric" : undefined}
                  data-label={isLabelHidden === true ? undefined : label}
                >
                  {index === 0 && linkOf ? (
                    <a class="row-link" href={linkOf(row)}>
                      {cell(row)}
                    </a>
                  ) : (
                    cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
