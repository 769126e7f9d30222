import type { QueryOf } from './query';

export type {
  AuditEvent,
  NewS3KeyPair as CreatedS3Key,
  Project,
  RoleEnum as Role,
  S3KeyPair,
  S3KeyPairRequest as NewS3Key,
  ScopesEnum as Scope,
  Session,
  Token as ApiToken,
  TokenRequest as NewToken,
} from '../schema';

export type AuditQuery = QueryOf<'/api/v1/audit/'>;
export type { Candidate, Member, NewMemberRequest as NewMember, Organisation, TreeProject, Unit } from '../schema';
