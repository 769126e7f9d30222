import type { Get, Listing, PageQuery, Send } from './shapes';

export type Role = 'viewer' | 'labeler' | 'researcher' | 'admin';
export type Scope = 'read' | 'write' | 'admin';

export interface SessionUser {
  id: string;
  username: string;
  full_name: string;
  is_admin: boolean;
  language: string;
}

export interface Session {
  authenticated: boolean;
  user?: SessionUser | null;
}

export interface Project {
  slug: string;
  name: string;
  role: Role;
  unit: string | null;
}

export interface ApiToken {
  id: string;
  prefix: string;
  name: string;
  scopes: Scope[];
  project: string | null;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  created_at: string;
}

export interface NewToken {
  name: string;
  scopes: Scope[];
  project?: string | null;
  expires_at?: string | null;
}

export interface AuditEvent {
  id: string;
  actor: string | null;
  verb: string;
  object_type: string;
  object_id: string;
  project: string | null;
  data: Record<string, unknown>;
  request_id: string;
  at: string;
}

export interface AuditQuery extends PageQuery {
  project?: string;
  actor?: string;
  verb?: string;
}

export interface AccountPaths {
  '/api/v1/auth/session/': { get: Get<Session> };
  '/api/v1/auth/login/': { post: Send<SessionUser, { username: string; password: string }> };
  '/api/v1/auth/logout/': { post: Send<undefined> };
  '/api/v1/projects/': { get: Get<Listing<Project>, undefined, PageQuery> };
  '/api/v1/users/me/': { get: Get<SessionUser>; patch: Send<SessionUser, { language: string }> };
  '/api/v1/tokens/': {
    get: Get<Listing<ApiToken>, undefined, PageQuery>;
    post: Send<ApiToken & { secret: string }, NewToken>;
  };
  '/api/v1/tokens/{id}/': { delete: Send<undefined, undefined, { id: string }> };
  '/api/v1/audit/': { get: Get<Listing<AuditEvent>, undefined, AuditQuery> };
}
