import type { QueryOf } from './query';

export type {
  AuditEvent,
  Project,
  RoleEnum as Role,
  ScopesEnum as Scope,
  Session,
  Token as ApiToken,
  TokenRequest as NewToken,
} from '../schema';

export type AuditQuery = QueryOf<'/api/v1/audit/'>;
