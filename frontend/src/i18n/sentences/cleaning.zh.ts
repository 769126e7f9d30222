/** Chinese of the sentences about reports of dataset quality. */
export const cleaning: Readonly<Record<string, string>> = {
  'cleaning.branch_has_no_version': '分支 {branch} 还没有版本。',
  'cleaning.columns_differ': '它的列不是 {columns}。',
  'cleaning.format_not_declared': '它没有声明自己是 {format}。',
  'cleaning.measurement_gone': '测量结果已不再保存。',
  'cleaning.not_a_finding': '报告中没有 {paths:w}。',
  'cleaning.not_parquet': '它不是 Parquet 文件。',
  'cleaning.report_owner_gone': '请求该报告的人已不在，无人可作为其运行的所有者。',
  'cleaning.run_deleted': '其运行已被删除。',
  'cleaning.run_left_no_file': '运行 {run} 没有留下 {file}。',
};
