/** Texts that must be shown as they are, and never run or break a page. */
export const hostileTexts: readonly string[] = [
  `<img src=x onerror="alert(1)">`,
  `"><script>alert(2)</script>`,
  `<svg/onload=alert(3)>`,
  "javascript:alert(4)",
  "https://example.com/\"onmouseover='alert(5)'",
  "{{constructor.constructor('alert(6)')()}} ${alert(7)}",
  "<b>bold</b> &lt;i&gt; &amp;",
  "\u202Egnp.exe \u2066mixed\u2069 \u200Fend",
  "👨‍👩‍👧‍👦🏳️‍🌈🇨🇭é\u0301\u0301\u0301",
  "a".repeat(1600),
  "line one\n\n\tline two   end",
  "https://user:secret@evil.example/ and data:text/html,<script>alert(8)</script>",
];
