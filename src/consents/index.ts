export { keywordOf, suspectsOptOut } from "./keywords.ts";
