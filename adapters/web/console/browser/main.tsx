import { startPage } from "../../shared/browser/index.ts";
import { Console } from "./console.tsx";
import "./styles/console.css";

await startPage(Console);
