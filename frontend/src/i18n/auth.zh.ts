import type * as en from './auth.en';
import type { Translation } from './types';

export const auth: Translation<typeof en.auth> = {
  title: '登录 Atom',
  subtitle: '数据集、标注、训练与模型，尽在一处',
  username: '用户名',
  password: '密码',
  signIn: '登录',
  required: '请填写此项',
  badCredentials: '用户名或密码错误。',
  throttled: '尝试次数过多，请在 {{wait}} 后重试。',
  expired: '登录已过期，请重新登录以继续。',
};
