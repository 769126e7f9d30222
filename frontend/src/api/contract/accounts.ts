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
export type {
  Accepted,
  Account as PersonAccount,
  Browser,
  Candidate,
  Invitation,
  MadeInvitation,
  Member,
  NewInvitationRequest as NewInvitation,
  NewMemberRequest as NewMember,
  NewPasswordRequest as NewPassword,
  NewPersonRequest as NewPerson,
  NewServiceToken,
  Offer as SecondFactorOffer,
  OpenInvitation,
  Organisation,
  ProofRequest as Proof,
  SecondFactor,
  ServiceAccount,
  ServiceToken,
  ServiceTokenRequest,
  TreeProject,
  Unit,
} from '../schema';
