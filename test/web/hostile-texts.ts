/** Texts that must be shown as they are, and never run or break a page. */
import { isLong } from "../support/runs.ts";

/** What runs if a page takes a text for code. A dialog is a fault of every browser test. */
const run = (n: number): string => `alert(${n})`;

const markup: readonly ((code: string) => string)[] = [
  (code) => `<script>${code}</script>`,
  (code) => `<img src=x onerror="${code}">`,
  (code) => `<svg/onload=${code}>`,
  (code) => `<svg><script>${code}</script></svg>`,
  (code) => `<svg><animate onbegin=${code} attributeName=x dur=1s>`,
  (code) => `<body onload=${code}>`,
  (code) => `<iframe srcdoc="<script>${code}</script>"></iframe>`,
  (code) => `<iframe src="javascript:${code}"></iframe>`,
  (code) => `<details open ontoggle=${code}>`,
  (code) => `<input autofocus onfocus=${code}>`,
  (code) => `<video><source onerror="${code}"></video>`,
  (code) => `<math><mi xlink:href="javascript:${code}">x</mi></math>`,
  (code) => `<object data="javascript:${code}"></object>`,
  (code) => `<a href="javascript:${code}">pay here</a>`,
  (code) => `<form action="javascript:${code}"><button>send</button></form>`,
  (code) => `<base href="https://evil.example/"><script src="${code}"></script>`,
  (code) => `<meta http-equiv="refresh" content="0;url=javascript:${code}">`,
  (code) => `<style>@import "javascript:${code}"; * { display: none }</style>`,
  (code) => `<template><img src=x onerror=${code}></template>`,
  (code) => `<noscript><p title="</noscript><img src=x onerror=${code}>">`,
];

/** What ends the place that a text was put into, before markup follows. */
const escapes: readonly string[] = [
  "",
  `">`,
  `'>`,
  "-->",
  "]]>",
  "</title>",
  "</textarea>",
  "</script>",
];

const urls: readonly string[] = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(2)",
  "java\nscript:alert(3)",
  "\u0001javascript:alert(4)",
  "javascript://example.com/%0Aalert(5)",
  "data:text/html,<script>alert(6)</script>",
  "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoNyk+",
  "vbscript:msgbox(8)",
  "blob:https://example.com/8d1c",
  "file:///etc/passwd",
  "https://user:secret@evil.example/",
  "https://example.com/\"onmouseover='alert(9)'",
  "https://example.com/<script>alert(10)</script>",
  "https://example.com/?q=javascript:alert(11)#<img src=x onerror=alert(12)>",
  "https://еxample.com/login",
  "http://[::1]/ and http://127.0.0.1:1/ and //evil.example/x",
  `https://example.com/${"a".repeat(1500)}`,
  "tel:+14155550100 mailto:a@example.com sms:+1",
];

const bidi: readonly string[] = [
  "\u202Egnp.exe",
  "\u2066mixed\u2069 \u200Fend",
  "\u202A\u202B\u202C\u202D\u202E",
  "\u2067\u2067\u2067never closed",
  "\u061C\u200E\u200F",
  "invoice\u202Efdp.exe \u202Dtotal 100",
  "محمد الفارسي",
  "דנה כהן (123) abc",
  "Ann محمد Keller דנה",
  "\u202E<img src=x onerror=alert(13)>\u202C",
];

const unusual: readonly string[] = [
  "👨‍👩‍👧‍👦",
  "🏳️‍🌈🇨🇭🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "👩🏽‍🚀".repeat(50),
  "🇦".repeat(41),
  "\u200D\u200D\u200D",
  "e\u0301\u0301\u0301\u0301",
  `Z${"\u0351\u0323\u0334".repeat(60)}algo`,
  "\uFEFFbyte order",
  "zero\u200Bwidth\u2060joined",
  `${"\u00AD".repeat(30)}soft`,
  "ﷺ﷽",
  "𝕿𝖍𝖊 𐍈 𠜎",
  "\uFFFE\uFFFF\uFFFD",
  "\u2028line\u2029paragraph\u0085next",
  "tab\tand  two   spaces",
  "line one\n\n\tline two   end",
  "\u0007bell \u001b[31mred\u001b[0m \b\b",
];

const values: readonly string[] = [
  "null",
  "undefined",
  "NaN",
  "true",
  "0",
  "-1",
  "1e309",
  "[object Object]",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "{}",
  "[]",
  '""',
  "' OR 1=1 --",
  "'; DROP TABLE contacts; --",
  "../../../../etc/passwd",
  "C:\\Windows\\System32",
  "%00%0d%0aSet-Cookie: a=b",
  '=HYPERLINK("https://evil.example","x")',
  "&lt;i&gt; &amp; &#x3c;script&#x3e;",
  "\\u003cscript\\u003ealert(14)\\u003c/script\\u003e",
];

const templates: readonly string[] = [
  "{{constructor.constructor('alert(15)')()}}",
  "${alert(16)}",
  "#{alert(17)}",
  "<%= alert(18) %>",
  "{% raw %}{{ 7*7 }}{% endraw %}",
  "[[${7*7}]]",
  "{name}",
  "{count} {time} {host}",
  "%s %d %n %@",
  "$& $1 $` $'",
  "{{#each this}}{{/each}}",
];

const long: readonly string[] = [
  "a".repeat(10_000),
  "word ".repeat(2_000).trim(),
  "👍".repeat(5_000),
  `${"\n".repeat(3_000)}last line`,
  "<".repeat(10_000),
  `${"\u202E".repeat(5_000)}x`,
  "Donaudampfschifffahrtsgesellschaft".repeat(40),
];

const escaped = escapes.flatMap((escape, i) =>
  markup.map((tag, j) => `${escape}${tag(run(i * 20 + j))}`),
);

const others: readonly string[] = [...urls, ...bidi, ...unusual, ...values, ...templates, ...long];

/** Over 200 texts of at most 10,000 characters each. */
export const hostileTexts: readonly string[] = [...escaped, ...others];

/** All of them in `npm run test:long`. `npm test` tries each markup, after some of the escapes. */
export const triedHostileTexts: readonly string[] = [
  ...(isLong ? escaped : escaped.filter((_, i) => i % 7 === 0)),
  ...others,
];
