export type {
  Delivery,
  DeliveryDetail,
  NewSecret as CreatedWebhook,
  NewWebhookRequest as NewWebhook,
  Webhook,
} from '../schema';
