/** A style sheet as text, which the build has made smaller. */
declare module "*.css?inline" {
  const text: string;
  export default text;
}
