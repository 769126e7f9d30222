export { AuditLogPage } from './audit/AuditLogPage';
export { TokensPage } from './tokens/TokensPage';
