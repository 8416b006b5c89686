/** Style sheets, which Vite collects from the imports of a page. */
declare module "*.css";
