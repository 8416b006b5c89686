/** What the README and the docs name exists, and what exists is in them. */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { MessagingEngine } from "tidings";
import { memory } from "tidings/memory";
import { sandbox } from "tidings/sandbox";
import { describe, expect, test } from "vitest";
import { eventTypes } from "../../src/events/types.ts";
import { defaultLimits } from "../../src/index.ts";
import { memberOf } from "../../src/kernel/index.ts";
import { apiRoutes } from "../../src/modules.ts";
import { thrownBy } from "../support/thrown-by.ts";

const paths = ["README.md", ...globSync("docs/*.md").toSorted()].map((path) =>
  path.replaceAll("\\", "/"),
);
const documents = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
const all = [...documents.values()].join("\n");
const prose = all.replaceAll(/^```[^]*?^```$/gm, "");
const inlineCode = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);

const matches = (pattern: RegExp, text = all): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, found = ""]) => found)),
];

const { scripts, exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
};

const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
const handle = engine.account();

/** The names of the fields of an engine option, from the error about another field. */
function fieldsOf(option: string): string[] {
  const options = { storage: memory(), transports: [sandbox()], [option]: { other: true } };
  const error = thrownBy(() => new MessagingEngine(options));
  const [, names = ""] =
    /other: unknown option\. Known options: ([\w, ]+)/.exec(String(error)) ?? [];
  return names.split(", ");
}

describe("the README and the docs", () => {
  test("name exactly the members of an account's handle", () => {
    const [, list = ""] =
      /The handle reaches[^]*?It has ([^]*?)\. `engine\.messages`/.exec(all) ?? [];
    expect(matches(/`(\w+)(?:\(\))?`/g, list).toSorted()).toEqual(Object.keys(handle).toSorted());
  });

  test("name only methods of handles that exist", () => {
    const names = Object.keys({ ...handle, accounts: true });
    // Not the name of a file, such as `events.ts`.
    const member = `(?:${names.join("|")})\\.(?!ts\\b)\\w+`;
    const pattern = new RegExp(`(?<![\\w.])(?:engine\\.)?(${member})`, "g");
    const named = inlineCode.flatMap((code) => matches(pattern, code));
    expect(named).toContain("messages.send");
    const missing = named.filter((name) => {
      const [noun = "", member = ""] = name.split(".");
      const methods = memberOf({ ...handle, accounts: engine.accounts }, noun);
      return memberOf(methods, member) === undefined && !fieldsOf(noun).includes(member);
    });
    expect(missing).toEqual([]);
  });

  test("name only events that exist", () => {
    /** A field that templates can name. */
    const others = ["contact.name"];
    const nouns = new Set(eventTypes.map((type) => type.split(".")[0]));
    const named = new Set(
      inlineCode.filter((code) => nouns.has(/^(\w+)\.\w+$/.exec(code)?.[1] ?? "")),
    );
    expect(named).toContain("message.sent");
    expect([...named].filter((name) => ![...eventTypes, ...others].includes(name))).toEqual([]);
  });

  test("name exactly the endpoints that exist", () => {
    const routes = new Set(apiRoutes(defaultLimits).map(({ path }) => path));
    const cells = prose
      .split("\n")
      .flatMap((line) => line.match(/(?<=\| )[^|]*\/v1\/[^|]*/g) ?? []);
    const named = cells.flatMap((cell) => {
      let base = "";
      return matches(/`(?:[A-Z]+ )?(\/[^`?]*)(?:\?[^`]*)?`/g, cell).map((path) => {
        if (path.startsWith("/v1/")) base = path;
        // A shorter path in the same cell continues the one before it, or takes the place of its end.
        const places = [path, `${base}${path}`, `${posix.dirname(base)}${path}`];
        return places.find((place) => routes.has(place)) ?? path;
      });
    });
    expect([...new Set(named)].toSorted()).toEqual([...routes].toSorted());
  });

  test("name only scripts that exist", () => {
    const named = matches(/npm run (?:-s |--silent )?([\w:-]+)/g);
    const missing = [...named, "start", "test"].filter((name) => !(name in scripts));
    expect(missing).toEqual([]);
    expect(named).toContain("bench");
  });

  test("name exactly the commands of the command line", () => {
    const usage = execFileSync(process.execPath, ["dist/cli.js", "--help"], { encoding: "utf8" });
    const commands = matches(/^ {2}([a-z]+) {2,}/gm, usage);
    expect(matches(/^\| \[`tidings (\w+)/gm).toSorted()).toEqual(commands.toSorted());
    expect(matches(/npx tidings ([a-z]\w*)/g).filter((name) => !commands.includes(name))).toEqual(
      [],
    );
  });

  test("name exactly the entries of the package", () => {
    const named = matches(/["`](tidings(?:\/[\w-]+)?)["`]/g);
    const entries = Object.keys(exports).map((path) => path.replace(/^\./, "tidings"));
    expect(named.toSorted()).toEqual(entries.toSorted());
  });

  test("promise nothing", () => {
    const promises =
      /\b(?:not yet|coming|planned|roadmap|TODO|for now|will be (?:added|supported)|(?:a|in) (?:later|future) (?:version|release)s?)\b/;
    const found = [...documents].flatMap(([path, text]) =>
      text
        .split("\n")
        .flatMap((line, i) => (promises.test(line) ? [`${path}:${i + 1}: ${line}`] : [])),
    );
    expect(found).toEqual([]);
  });

  test("link only to headings that exist", () => {
    const anchors = (text: string): string[] =>
      [...text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
          .replaceAll(" ", "-"),
      );
    const broken = [...documents].flatMap(([path, text]) =>
      [...text.matchAll(/\]\(([^)#\s]*)#([^)\s]+)\)/g)].flatMap(
        ([link, file = "", anchor = ""]) => {
          if (file.startsWith("https:")) return [];
          const target = file === "" ? path : posix.join(path, "..", file);
          return anchors(documents.get(target) ?? "").includes(anchor) ? [] : [`${path}: ${link}`];
        },
      ),
    );
    expect(broken).toEqual([]);
  });
});
