import './words/index';

export { ProjectMembersPage } from './members/ProjectMembersPage';
export { SecretsPage } from './secrets/SecretsPage';
export { ProjectSharesPage } from './shares/ProjectSharesPage';
export { WebhooksPage } from './webhooks/WebhooksPage';
