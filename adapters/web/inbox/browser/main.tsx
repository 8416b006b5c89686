import { startPage } from "../../shared/browser/index.ts";
import { Inbox } from "./inbox.tsx";
import "./inbox.css";

await startPage(Inbox);
