/** Returns a reference to a component of the document. */
export const ref = (kind: string, name: string): { $ref: string } => ({
  $ref: `#/components/${kind}/${name}`,
});
