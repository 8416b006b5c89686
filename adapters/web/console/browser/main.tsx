import { startPage } from "../../shared/browser/index.ts";
import { Console } from "./console.tsx";
import { t } from "./texts.ts";
import "./styles/console.css";

await startPage({ page: Console, nameOf: () => t("title") });
