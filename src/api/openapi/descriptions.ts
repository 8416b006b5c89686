/**
 * The descriptions of schemas are the docstrings of their interfaces. The build writes those that
 * the document needs to `dist/openapi/descriptions.js`, which `#descriptions` names.
 */

/** The docstrings of a type and of its fields. */
export interface TypeDescription {
  readonly description: string;
  readonly fields: Readonly<Record<string, string>>;
}

export type Descriptions = Readonly<Record<string, TypeDescription>>;

/** Returns the docstrings of an exported type. */
export type Describe = (type: string) => TypeDescription | undefined;

/** The descriptions of sources that were not compiled: none. Has the form of the built module. */
export const descriptions: Descriptions = {};

/** Loads the docstrings. A document without them is better than none. */
export async function loadDescriptions(): Promise<Describe> {
  const built = await import("#descriptions").catch(() => ({ descriptions }));
  return (type) => built.descriptions[type];
}
