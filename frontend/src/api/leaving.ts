/** Browsers refuse requests that outlive their page when the bodies of all of them have more than 64 KB. */
const BODY_BYTES = 60 * 1024;
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

let leaving = false;
let spareBytes = 0;

if (typeof window !== 'undefined') {
  // Capturing, so that whoever writes in their own handler of this event finds it known.
  window.addEventListener(
    'pagehide',
    () => {
      leaving = true;
      spareBytes = BODY_BYTES;
    },
    { capture: true },
  );
  // A page that the browser kept comes back.
  window.addEventListener('pageshow', () => {
    leaving = false;
  });
}

function fits(body: BodyInit): boolean {
  if (!leaving || typeof body !== 'string') return false;
  const bytes = new TextEncoder().encode(body).length;
  if (bytes > spareBytes) return false;
  spareBytes -= bytes;
  return true;
}

function outlivesPage({ method = 'GET', body }: RequestInit): boolean {
  if (READS.has(method)) return false;
  return body == null || fits(body);
}

/** A small write goes out even if the page is being left (an undo toast that was still open). */
export class PageRequest extends Request {
  constructor(input: RequestInfo | URL, init: RequestInit = {}) {
    super(input, { ...init, keepalive: init.keepalive ?? outlivesPage(init) });
  }
}
