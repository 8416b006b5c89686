import { BlockList, isIPv4 } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkAddress, checkUrl, destinations, publicOnly } from "../../src/ports/destinations.ts";

const codeOf = (url: string, to = publicOnly): string => {
  const check = checkUrl(url, to);
  return check.ok ? "ok" : check.code;
};
const familyOf = (address: string) => (isIPv4(address) ? "ipv4" : "ipv6");

describe("a URL", () => {
  test.each([
    "https://example.com/hook?a=b#c",
    "https://example.com:8443/",
    "https://example.com./",
    "https://EXAMPLE.com/",
    "https://bücher.example/",
    "https://1.1.1.1/",
    "https://[2606:4700::1111]/",
    "https://10.example.com/",
    "https://localhost.example.com/",
  ])("may be %s", (url) => {
    expect(codeOf(url)).toBe("ok");
  });

  test.each([
    ["http://example.com/", "scheme_forbidden"],
    ["ftp://example.com/", "scheme_forbidden"],
    ["file:///etc/passwd", "scheme_forbidden"],
    ["data:text/plain,a", "scheme_forbidden"],
    ["example.com", "url_invalid"],
    ["/hook", "url_invalid"],
    ["https://", "url_invalid"],
    ["https://example.com:0/", "url_invalid"],
    ["https://example.com:99999/", "url_invalid"],
    ["https://1.2.3.4.5/", "url_invalid"],
    [`https://example.com/${"a".repeat(2_048)}`, "url_invalid"],
    ["https://user@example.com/", "credentials_in_url"],
    ["https://user:password@example.com/", "credentials_in_url"],
    ["https://:password@example.com/", "credentials_in_url"],
    ["https://example.com@127.0.0.1/", "credentials_in_url"],
    ["https://localhost/", "host_forbidden"],
    ["https://LOCALHOST/", "host_forbidden"],
    ["https://localhost./", "host_forbidden"],
    ["https://localhost../", "host_forbidden"],
    ["https://api.localhost/", "host_forbidden"],
    ["https://printer.local/", "host_forbidden"],
    ["https://metadata.google.internal/", "host_forbidden"],
    ["https://router.home.arpa/", "host_forbidden"],
    ["https://database/", "host_forbidden"],
  ])("may not be %s", (url, code) => {
    expect(codeOf(url)).toBe(code);
  });

  test.each([
    ["dotted", "127.0.0.1"],
    ["with a dot at the end", "127.0.0.1."],
    ["short", "127.1"],
    ["decimal", "2130706433"],
    ["hex", "0x7f000001"],
    ["hex in parts", "0x7f.0.0.1"],
    ["octal", "0177.0.0.1"],
    ["octal in one", "017700000001"],
    ["percent-encoded", "%31%32%37.0.0.1"],
    ["full-width", "１２７.０.０.１"],
    ["with other dots", "127。0。0。1"],
    ["zero", "0"],
    ["all of this machine", "0.0.0.0"],
    ["metadata", "169.254.169.254"],
    ["metadata, decimal", "2852039166"],
    ["metadata, IPv6", "[fd00:ec2::254]"],
    ["metadata, Alibaba's", "100.100.100.200"],
    ["metadata, Oracle's", "192.0.0.192"],
    ["metadata, Azure's", "168.63.129.16"],
    ["private", "10.255.255.255"],
    ["private", "172.31.0.1"],
    ["private", "192.168.1.1"],
    ["carrier-grade NAT", "100.127.0.1"],
    ["multicast", "239.255.255.250"],
    ["broadcast", "255.255.255.255"],
    ["reserved", "240.0.0.1"],
    ["documentation", "203.0.113.7"],
    ["benchmarks", "198.19.0.1"],
    ["loopback", "[::1]"],
    ["unspecified", "[::]"],
    ["mapped", "[::ffff:127.0.0.1]"],
    ["mapped, hex", "[::ffff:7f00:1]"],
    ["mapped, public", "[::ffff:1.1.1.1]"],
    ["compatible", "[::127.0.0.1]"],
    ["translated", "[::ffff:0:127.0.0.1]"],
    ["NAT64", "[64:ff9b::10.0.0.1]"],
    ["local NAT64", "[64:ff9b:1::10.0.0.1]"],
    ["6to4", "[2002:7f00:1::]"],
    ["Teredo", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]"],
    ["unique local", "[fc00::1]"],
    ["link-local", "[fe80::1]"],
    ["site-local", "[fec0::1]"],
    ["multicast", "[ff02::1]"],
    ["documentation", "[2001:db8::1]"],
    ["documentation", "[3fff::1]"],
    ["discard", "[100::1]"],
    ["segment routing", "[5f00::1]"],
    ["not assigned", "[4000::1]"],
  ])("must have a public address: %s, %s", (_, host) => {
    expect(codeOf(`https://${host}/`)).toBe("address_forbidden");
  });

  test("has at most 2,048 characters once it is percent-encoded, as it is stored and sent", () => {
    expect(codeOf(`https://example.com/${"é".repeat(338)}`)).toBe("ok");
    expect(codeOf(`https://example.com/${"é".repeat(339)}`)).toBe("url_invalid");
  });

  test("loses the trailing dot of its host, so that DNS, TLS and the receiver use one name", () => {
    expect(checkUrl("https://example.com.:8443/a", publicOnly)).toMatchObject({
      url: new URL("https://example.com:8443/a"),
    });
  });
});

describe("an address", () => {
  // IANA's registries of special-purpose addresses, as a `net.BlockList`.
  const inside = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of [
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24",
    "192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
    "168.63.129.16/32 ::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20",
  ].flatMap((line) => line.split(" "))) {
    const [start = "", bits = ""] = network.split("/");
    inside[familyOf(start)].addSubnet(start, Number(bits), familyOf(start));
  }
  const edges = fc.constantFrom(
    ..."0.0 10.0 100.63 100.64 100.127 100.128 127.0 169.254 172.15 172.16 172.31 172.32 192.0 192.168 198.18 203.0 224.0".split(
      " ",
    ),
  );
  const ipv4 = fc.oneof(
    fc.ipV4(),
    fc.tuple(edges, fc.nat(255), fc.nat(255)).map((parts) => parts.join(".")),
  );
  const groups = fc.array(
    fc.nat(0xffff).map((group) => group.toString(16)),
    { minLength: 7, maxLength: 7 },
  );
  const first = fc.oneof(
    fc.nat(0xffff),
    fc.constantFrom(0, 0x64, 0x1fff, 0x2000, 0x2001, 0x2002, 0x2620, 0x3ffe, 0x3fff, 0x4000),
  );
  const ipv6 = fc
    .tuple(first, groups)
    .map(([head, rest]) => [head.toString(16), ...rest].join(":"));

  test("is forbidden exactly if it is in a special range, in every notation", () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6, fc.ipV6()), (address) => {
        const isInside = inside[familyOf(address)].check(address, familyOf(address));
        expect(
          checkAddress("example.com", address, publicOnly)?.code,
          "An address is forbidden exactly if it is in a special range.",
        ).toBe(isInside ? "address_forbidden" : undefined);
        const url = isIPv4(address) ? `https://${address}/` : `https://[${address}]/`;
        expect(
          codeOf(url),
          `A URL is forbidden exactly if its address is in a special range: ${url}`,
        ).toBe(isInside ? "address_forbidden" : "ok");
      }),
      { numRuns: 2_000 },
    );
  });

  test.each(["", "localhost", "0177.0.0.1", "1.1", "::g"])(
    "that is invalid (%j) is forbidden",
    (address) => {
      expect(checkAddress("example.com", address, publicOnly)).toMatchObject({
        code: "address_forbidden",
      });
    },
  );
});

describe("the allow list", () => {
  test("allows exactly its networks, addresses and names", () => {
    const to = destinations({
      allow: ["10.1.0.0/16", "192.168.0.7", "fd00::/8", "Hooks.Internal", "database"],
    });
    for (const host of [
      "10.1.2.3",
      "192.168.0.7",
      "[fd12::1]",
      "hooks.internal",
      "HOOKS.internal.",
      "database",
    ]) {
      expect(codeOf(`https://${host}/`, to), host).toBe("ok");
    }
    for (const host of ["10.2.0.1", "192.168.0.8", "[fe80::1]", "[::ffff:10.1.2.3]"]) {
      expect(codeOf(`https://${host}/`, to), host).toBe("address_forbidden");
    }
    for (const host of ["other.internal", "sub.hooks.internal", "localhost"]) {
      expect(codeOf(`https://${host}/`, to), host).toBe("host_forbidden");
    }
    expect(codeOf("http://10.1.2.3/", to)).toBe("scheme_forbidden");
    expect(codeOf("http://10.1.2.3/", destinations({ http: true, allow: ["10.1.2.3"] }))).toBe(
      "ok",
    );
  });

  test("allows a listed name with any address, and no other name", () => {
    const to = destinations({ allow: ["hooks.internal"] });
    expect(checkAddress("hooks.internal", "10.0.0.1", to)).toBeUndefined();
    expect(checkAddress("example.com", "10.0.0.1", to)).toMatchObject({
      code: "address_forbidden",
    });
  });

  test.each([
    "",
    "10.0.0.0/33",
    "fd00::/129",
    "10.0.0.0/8/8",
    "010.0.0.1",
    "127.1",
    "0x7f000001",
    "https://a.b",
    "a.b:80",
    "a.b/c",
    "a b",
    "*.internal",
  ])("rejects the ambiguous entry %j", (entry) => {
    expect(() => destinations({ allow: [entry] })).toThrow(
      expect.objectContaining({ code: "invalid_option" }),
    );
  });
});
