import { startPage } from "../../shared/browser/index.ts";
import { Inbox } from "./inbox.tsx";
import { t } from "./texts.ts";
import "./styles/inbox.css";

await startPage({ page: Inbox, nameOf: () => t("title") });
