import './words';

export { AuditLogPage } from './audit/AuditLogPage';
export { GarbagePage } from './garbage/GarbagePage';
export { HealthPage } from './health/HealthPage';
export { MachinesPage } from './machines/MachinesPage';
export { S3KeysPage } from './s3Keys/S3KeysPage';
export { SecretsPage } from './secrets/SecretsPage';
export { TokensPage } from './tokens/TokensPage';
export { WebhooksPage } from './webhooks/WebhooksPage';
