/** The server's own pages, such as the API's documentation, are no routes of the portal. */
export const isServerPage = (path: string): boolean => /^\/(api|admin)\//.test(path);

/** Where to go after signing in: a path of this site only, never another site that a crafted link names. */
export function safeNext(next: string | undefined): string {
  if (!next?.startsWith('/') || next.startsWith('//') || next.startsWith('/\\')) return '/';
  return next.startsWith('/login') ? '/' : next;
}
