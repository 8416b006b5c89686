import tls from "node:tls";
import { generate } from "selfsigned";

/** The key and certificates of a TLS server. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

export interface Authority {
  /**
   * Issues a certificate for the authority's host name, valid between two times given in days from
   * now.
   */
  issue(name: string, days?: { readonly from?: number; readonly to?: number }): Promise<Identity>;
}

const dayMs = 86_400_000;
const inDays = (days: number): Date => new Date(Date.now() + days * dayMs);
const algorithm = { algorithm: "sha256", keyType: "ec" } as const;

/** Creates a certificate authority for a test. */
export async function authority(called: string): Promise<Authority & { readonly cert: string }> {
  const root = await generate([{ name: "commonName", value: called }], {
    ...algorithm,
    notBeforeDate: inDays(-30),
    notAfterDate: inDays(30),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    cert: root.cert,
    async issue(name, { from = -2, to = 2 } = {}) {
      const { private: key, cert } = await generate([{ name: "commonName", value: name }], {
        ...algorithm,
        notBeforeDate: inDays(from),
        notAfterDate: inDays(to),
        extensions: [
          { name: "basicConstraints", cA: false },
          { name: "subjectAltName", altNames: [{ type: 2, value: name }] },
        ],
        ca: { key: root.private, cert: root.cert },
      });
      return { key, cert };
    },
  };
}

/** Creates a self-signed certificate. */
export async function selfSigned(name: string): Promise<Identity> {
  const { private: key, cert } = await generate([{ name: "commonName", value: name }], {
    ...algorithm,
    notAfterDate: inDays(2),
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: name }] }],
  });
  return { key, cert };
}

/** Makes this process trust an authority, as `NODE_EXTRA_CA_CERTS` would. */
export function trust(cert: string): void {
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), cert]);
}
