/**
 * What the server says is wrong with a field, in Chinese, by its code and values (`error_codes` of a problem). English is
 * the server's own; so is what has no code.
 */
const fields: Readonly<Record<string, string>> = {
  blank: '不能为空。',
  does_not_exist: '不存在。',
  empty: '不能为空。',
  incorrect_type: '类型不正确。',
  invalid_choice: '“{{input}}”不是可选的值。',
  max_items: '最多 {{limit}} 项。',
  max_length: '最多 {{limit}} 个字符。',
  max_string_length: '文本过长。',
  max_value: '不能大于 {{limit}}。',
  min_items: '至少 {{limit}} 项。',
  min_length: '至少 {{limit}} 个字符。',
  min_value: '不能小于 {{limit}}。',
  no_match: '该版本没有符合条件的文件。',
  not_a_boolean: '请填写 true 或 false。',
  not_a_dict: '应为键值对。',
  not_a_list: '应为列表。',
  not_a_number: '请填写数字。',
  not_a_time: '日期或时间的格式不正确。',
  not_a_url: '请填写有效的网址。',
  not_a_uuid: '请填写有效的 UUID。',
  not_an_email: '请填写有效的邮箱地址。',
  not_an_integer: '请填写整数。',
  not_future: '请选择将来的时间。',
  not_json: '不是有效的 JSON。',
  not_text: '应为文本。',
  null: '不能为空值。',
  overflow: '数值过大。',
  password_entirely_numeric: '密码不能全是数字。',
  password_too_common: '这个密码太常见。',
  password_too_short: '密码太短，至少需要 {{limit}} 个字符。',
  password_too_similar: '密码与您的其他信息过于相似。',
  required: '必填。',
  slug: '请使用 1 到 63 个小写字母、数字、点、短横线或下划线。',
  source_url:
    '请填写 s3://bucket/prefix、gs://bucket/prefix、az://account/container/prefix、webhdfs://host:port/folder、file:///folder，或列表的 https:// 地址。',
  split_size: '请填写样本数，或如 20% 的比例。',
  unique: '该名称已被占用。',
  unknown_field: '没有这个字段。',
  wrong_code: '验证码错误，或已使用过。',
  wrong_password: '密码错误。',
  wrong_pattern: '格式不符合要求。',
};

export default fields;
