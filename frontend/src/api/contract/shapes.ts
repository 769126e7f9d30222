/** Small builders, so that a hand-written path reads as one line and fits openapi-fetch. */
type Json<T> = { content: { 'application/json': T } };
type PathFields<Path> = [Path] extends [undefined] ? { path?: never } : { path: Path };

/** The body of a failed answer; `api/errors.ts` turns it into an ApiError. */
export interface Problem {
  status: number;
  code: string;
  title: string;
  detail: string;
  action: string;
  request_id: string;
}

export type Get<Response, Path = undefined, Query = Record<never, never>> = {
  parameters: PathFields<Path> & { query?: Query; header?: Record<string, string>; cookie?: never };
  requestBody?: never;
  responses: { 200: Json<Response>; default: Json<Problem> };
};

export type Send<Response, Body = undefined, Path = undefined, Query = Record<never, never>> = Omit<
  Get<Response, Path, Query>,
  'requestBody'
> &
  ([Body] extends [undefined] ? { requestBody?: never } : { requestBody: Json<Body> });

/** A keyset page: `next` is the cursor of the following page, null on the last one. */
export interface Listing<T> {
  results: T[];
  next: string | null;
}

export interface PageQuery {
  limit?: number;
  cursor?: string;
}

/** `{p}`: the project's slug. */
export interface InProject {
  p: string;
}

export interface Person {
  username: string;
  full_name: string;
}
