/** Chinese of the sentences about notifications and webhooks. */
export const notifications: Readonly<Record<string, string>> = {
  'notifications.choice_missing': '请填写 topics、daily 或两者。',
  'notifications.only_with_until': '它只能与 until 一起使用。',
  'notifications.selection_unclear': '请在 ids、subject 和 until 中选择一个。',
  'notifications.time_missing': '请填写 time_zone、hour 或两者。',
  'webhooks.delivery_unknown': '该 Webhook 没有这次投递；投递记录只保留两周。',
  'webhooks.too_many': '每个项目最多保留 {max} 个。',
};
