/** Chinese of the sentences about caches and their nodes. */
export const cache: Readonly<Record<string, string>> = {
  'cache.node_out_of_reach': '没有缓存后端能访问节点 {node}。',
  'cache.node_unknown': '没有节点 {node}。',
  'cache.nothing_selected': '{selection:w}中没有样本。',
  'cache.selector_unknown': '请按 split、labelled 和 where 选择。',
  'cache.split_of': '{version} 的划分 {splits}',
  'cache.that_matches': '{selection} 里符合 {where} 的部分',
  'cache.version_in_use': '{dataset}@{ref} 正在使用。',
  'cache.version_not_warm': '{dataset}@{ref} 在 {node} 上尚未预热。',
};
