/**
 * The details of problems in Chinese, by the code of the sentence (`detail_code`).
 *
 * `{name}` is a parameter as it is; `{name:w}` a word or a sentence that is said in Chinese itself.
 */
const sentences: Readonly<Record<string, string>> = {
  'core.json_number_too_large': '请求正文的 JSON 中有一个过大的数字。',
  'core.json_too_deep': '请求正文的嵌套超过 {levels} 层。',
  'core.no_transition': '当前状态为“{old:w}”，不能变为“{new:w}”。',
  'core.nul_in_address': '地址中含有 NUL 字符，任何名称都不含它。',
  'core.object_missing': '对象存储中没有 {key}。',
  'core.slash_missing': '存在末尾带斜杠的 {path}/。',
  'core.value_not_storable': '有一个值大到无法保存，或含有 NUL 字符。',
};

export default sentences;
