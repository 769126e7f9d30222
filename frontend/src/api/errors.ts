/** One failed request, as the server's `application/problem+json` describes it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** The detail by its code and values, where the server gives them. */
  readonly sentence: FieldCode | undefined;
  /** The next step in one plain sentence; empty when the server has no advice. */
  readonly action: string;
  readonly requestId: string;
  /** Messages per form field, in the server's English: pages show `fieldWords`. */
  readonly fields: Readonly<Record<string, string>>;
  /** The meaning of those messages, message by message. */
  readonly fieldCodes: Readonly<Record<string, readonly FieldCode[]>>;
  /** Where in a picture a field is wrong: `[x, y]`. */
  readonly places: Readonly<Record<string, readonly [x: number, y: number]>>;
  /** Seconds until a throttled request may be tried again. */
  readonly retryAfterS: number | null;

  constructor(init: ApiErrorInit) {
    super(init.detail || init.title);
    this.name = 'ApiError';
    this.status = init.status;
    this.code = init.code;
    this.title = init.title;
    this.detail = init.detail ?? '';
    this.sentence = init.sentence;
    this.action = init.action ?? '';
    this.requestId = init.requestId ?? '';
    this.fields = init.fields ?? {};
    this.fieldCodes = init.fieldCodes ?? {};
    this.places = init.places ?? {};
    this.retryAfterS = init.retryAfterS ?? null;
  }

  /** A part of the platform is starting again: no defect, and over soon. */
  get isTemporary(): boolean {
    return this.status === 503 && this.code === 'unavailable';
  }
}

/** One thing that is wrong with a field, and the values that its message names. */
export interface FieldCode {
  code: string;
  params: Readonly<Record<string, unknown>>;
}

export interface ApiErrorInit {
  status: number;
  code: string;
  title: string;
  detail?: string;
  sentence?: FieldCode;
  action?: string;
  requestId?: string;
  fields?: Record<string, string>;
  fieldCodes?: Record<string, readonly FieldCode[]>;
  places?: ApiError['places'];
  retryAfterS?: number | null;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** DRF sends `{field: [message, …]}`; a form shows one line per field. */
function flattenFields(value: unknown, prefix = ''): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  const out: Record<string, string> = {};
  for (const [key, message] of Object.entries(value)) {
    const name = prefix + key;
    if (typeof message === 'string') out[name] = message;
    else if (Array.isArray(message) && message.every((part) => typeof part === 'string')) out[name] = message.join(' ');
    else Object.assign(out, flattenFields(message, `${name}.`));
  }
  return out;
}

/** The code of a detail with its parameters; undefined for a detail that has none. */
export function sentenceOf(body: { detail_code?: unknown; detail_params?: unknown }): FieldCode | undefined {
  const code = text(body.detail_code);
  return code ? { code, params: (body.detail_params ?? {}) as FieldCode['params'] } : undefined;
}

/** Reads a failed response; a body that is no problem document still gives a usable error. */
export async function readApiError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-request-id') ?? '';
  const retryAfter = Number(response.headers.get('retry-after'));
  let body: Record<string, unknown> = {};
  try {
    body = (await response.json()) as Record<string, unknown>;
  } catch {
    // A proxy's HTML page, or no body at all: the status says enough.
  }
  return new ApiError({
    status: response.status,
    code: text(body.code) || `http_${response.status}`,
    title: text(body.title) || response.statusText || `HTTP ${response.status}`,
    detail: text(body.detail),
    sentence: sentenceOf(body),
    action: text(body.action),
    requestId: text(body.request_id) || requestId,
    fields: flattenFields(body.fields ?? body.errors),
    // Named by whole paths already, like the messages they stand beside.
    fieldCodes: (body.error_codes ?? {}) as Record<string, FieldCode[]>,
    places: (body.places ?? {}) as ApiError['places'],
    retryAfterS: retryAfter > 0 ? retryAfter : null,
  });
}

/** Gives every thrown value the same shape, so that pages render one kind of error. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const offline = error instanceof TypeError;
  const detail = error instanceof Error ? error.message : String(error);
  return new ApiError({ status: 0, code: offline ? 'unreachable' : 'client_error', title: '', detail });
}
