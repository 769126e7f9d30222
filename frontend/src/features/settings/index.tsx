export { AuditLogPage } from './audit/AuditLogPage';
export { GarbagePage } from './garbage/GarbagePage';
export { TokensPage } from './tokens/TokensPage';
