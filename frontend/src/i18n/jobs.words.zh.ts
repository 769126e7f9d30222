import type { Translation } from '@/i18n/types';
import type * as en from './jobs.words.en';

export const failureClass: Translation<typeof en.failureClass> = {
  OOM_HOST: '内存不足',
  USER_CODE: '代码出错',
  COMMAND_NOT_FOUND: '找不到命令',
  DATA_WARMUP: '数据不可用',
  RUNTIME_BUILD: '环境构建失败',
  PREPARATION: '准备失败',
  RUNNER_LOST: '监管进程丢失',
  NODE_LOST: '机器失联',
  NODE_DISK: '机器磁盘',
  DEADLINE: '超出时限',
  BAD_PARAMETERS: '参数有误',
  BAD_DATA: '数据不符合要求',
  BAD_MODEL: '模型不符合要求',
  OOM_GPU: '显存不足',
  RESULT_REFUSED: '结果被拒绝',
  IMAGE_PULL: '镜像无法拉取',
  VOLUME: '卷无法挂载',
  UNSCHEDULABLE: '没有可用的机器',
  PREEMPTED: '为其他任务让位',
  EVICTED: '被移出机器',
  JOB_VANISHED: '已从集群消失',
  GANG_INCOMPLETE: '节点未及时到齐',
  MOVED: '已移动到另一个集群',
};

const podLog = '请在集群中查看该 Pod 的日志，或将这段文字交给集群管理员。只要还有重试次数，运行会自动重新开始。';

export const failure: Translation<typeof en.failure> = {
  out_of_memory: {
    reason: '任务所需内存超过上限 {{memory_bytes}}，已被停止。',
    suggestion: '请分配更多内存（例如 {{enough_bytes}}），或减小批大小、减少数据加载进程。',
  },
  deadline: {
    reason: '任务运行超过时限 {{timeout_s}}，已被停止。',
    suggestion: '请放宽时限；重试会从最近保存的检查点继续。',
  },
  command_not_found: {
    reason: '任务环境中没有命令“{{command}}”，或该命令不可执行。',
    suggestion: '请检查拼写；将提供该命令的软件包加入依赖，或将该文件加入提交的代码。',
  },
  not_prepared: {
    reason: '任务的代码、输入文件或检查点未能送达机器，命令没有启动：{{said}}',
    suggestion: '请重试：存储短暂不可用是常见原因。如果再次同样失败，请重新提交代码，或改用其他检查点或模型。',
  },
  signalled: {
    reason: '命令被信号 {{signal}} 终止。',
    suggestion: '请查看日志末尾；本地代码崩溃不会留下 Python 回溯。',
  },
  exited: {
    reason: '命令以退出码 {{exit_code}} 结束。',
    suggestion: '请阅读回溯和日志末尾，改正代码或参数后重新启动运行。',
  },
  exited_with_error: {
    reason: '命令以退出码 {{exit_code}} 结束：{{error}}',
    suggestion: '请阅读回溯和日志末尾，改正代码或参数后重新启动运行。',
  },
  not_launched: {
    reason: '任务的监管进程无法启动：{{said}}',
    suggestion: '请查看工作进程的日志；只要还有重试次数，运行会自动重新开始。',
  },
  secrets_missing: {
    reason: '无法提供该运行所要的机密：{{said}}',
    suggestion: '请重新设置该机密，然后重试运行。',
  },
  not_mounted: {
    reason: '数据集无法挂载：{{said}}',
    suggestion: '请改用 SDK 读取：将数据的提供方式改为“数据包”后重新启动运行。',
  },
  nothing_selected: {
    reason: '{{dataset}} 中没有文件同时符合该运行的查询、视图和划分。',
    suggestion: '请修改查询、视图或划分，或选择其他版本。',
  },
  no_labels: {
    reason: '{{dataset}} 没有标注：该运行读取的 {{files}} 个文件都没有标注。',
    suggestion: '请用文件夹名作为标注，或去标注这些文件，然后用新版本启动运行。',
  },
  no_objects: {
    reason: '{{dataset}} 没有对象：该运行读取的 {{files}} 张图像都没有对象标注。',
    suggestion: '请在标注任务中绘制对象，或导入标注，然后用新版本启动运行。',
  },
  export_differs: {
    reason: 'ONNX 文件的输出与网络不一致：分数相差 {{score}}，矩形框相差 {{pixels}} 像素。',
    suggestion: '请重试该运行。如果仍然失败，请克隆并降低学习率。',
  },
  not_a_detector: {
    reason: '模型 {{model}} 没有该工作流能读取的 detector.json。',
    suggestion: '请选择由工作流 object-detection 训练的模型。',
  },
  one_class: {
    reason: '{{dataset}} 只有一个类别：已标注的 {{labelled}} 个文件都是“{{label}}”。',
    suggestion: '请至少再标注一个类别的文件，或选择其他版本。',
  },
  split_empty: {
    reason: '{{dataset}} 的划分 {{split}} 中没有文件。',
    suggestion: '请生成该划分，或选择有文件的版本或划分。',
  },
  nothing_readable: {
    reason: '{{dataset}} 中没有一张图像能打开：该运行读取的 {{files}} 张全部失败。',
    suggestion: '请在数据集中查看并替换这些文件，或选择其他版本。',
  },
  gpu_out_of_memory: {
    reason: '批大小 {{batch_size}}、图像 {{image_size}} 像素时显存不足。',
    suggestion: '请克隆该运行，减小批大小或图像尺寸。',
  },
  model_without_description: {
    reason: '模型 {{model}} 没有 model.json，该工作流无法读取。',
    suggestion: '请选择由工作流 image-classification 训练的模型。',
  },
  model_of_another_program: {
    reason: '模型 {{model}} 的格式是 {{format}}，该工作流无法读取。',
    suggestion: '请选择由工作流 image-classification 训练的模型。',
  },
  model_damaged: {
    reason: '模型 {{model}} 的文件互不匹配：{{error}}',
    suggestion: '请重新注册该模型，或选择它的其他版本。',
  },
  no_videos: {
    reason: '{{dataset}} 中没有视频：所选文件夹下的 {{files}} 个文件都不是视频。',
    suggestion: '请选择含有视频的版本，或在“仅限文件夹”中填写其他文件夹。',
  },
  no_readable_video: {
    reason: '{{dataset}} 中没有可读取的视频：{{videos}} 个全部失败。',
    suggestion: '日志中有每个视频的原因。请替换视频，或选择其他版本。',
  },
  output_is_input: {
    reason: '输出 {{output}} 就是含有视频的数据集。',
    suggestion: '请克隆该运行，并填写另一个数据集作为输出。',
  },
  result_not_pushed: {
    reason: '结果未能推送到 {{output}}：{{error}}',
    suggestion: '请改正所述问题，然后重试运行。',
  },
  import_refused: {
    reason: '没有从 {{source}} 导入任何内容：{{error}}',
    suggestion: '请改正所述问题，或更改导入选项，然后重新检查。',
  },
  runner_lost: {
    reason: '监管任务的进程已消失，无法观察到任务如何结束。',
    suggestion: '无需修改：只要还有重试次数，运行会从最近保存的检查点自动重新开始。',
  },
  node_lost: {
    reason: '任务运行期间，机器 {{node}} 停止响应。',
    suggestion: '无需修改：运行会在另一台机器上自动重新开始。',
  },
  machines_lost: {
    reason:
      '连续 {{count}} 次尝试失去了机器，其间没有保存新的检查点。任务本身可能会使机器停止工作，因此不再自动重新开始。',
    suggestion:
      '请检查任务使用的内存、磁盘和设备，以及机器本身。排除原因后请重试该运行。更频繁地保存检查点可以让它继续前进。',
  },
  disk_full: {
    reason: '任务结束时机器的磁盘已满：{{said}}',
    suggestion: '请让管理员腾出空间，然后重试该运行：它会从最近保存的检查点继续。',
  },
  disk_read_only: {
    reason: '任务结束时机器的磁盘为只读：{{said}}',
    suggestion: '请让管理员将磁盘重新挂载为可写，然后重试该运行：它会从最近保存的检查点继续。',
  },
  disk_failing: {
    reason: '任务结束时机器的磁盘出错：{{said}}',
    suggestion: '请让管理员检查磁盘，然后重试该运行：它会从最近保存的检查点继续。',
  },
  data_warmup: {
    reason: '{{dataset}} 的数据未能送达机器：{{error}}',
    suggestion: '请查看该数据集的缓存页面；原因消除后重试该运行。',
  },
  runtime_build: {
    reason: '任务的 Python 环境无法构建。pip 的输出：{{said}}',
    suggestion: '请改正依赖（名称、版本、Python 版本）后重新启动运行。',
  },
  base_image_denied: {
    reason: '镜像仓库不允许 Atom 读取镜像 {{image}}，或没有该镜像。',
    suggestion: '请检查镜像名称。如果是私有镜像，请设置项目的密钥 DOCKER_AUTH_CONFIG，然后重新启动运行。',
  },
  base_image_missing: {
    reason: '镜像仓库中没有版本为 {{version}} 的镜像 {{image}}。',
    suggestion: '请改正镜像的名称或标签后重新启动运行。',
  },
  base_image_unfit: {
    reason: '镜像 {{image}} 没有 Atom 可以添加内容的 Linux {{machine}} 版本。',
    suggestion: '请指定适用于该处理器、以 OCI 或 Docker schema 2 形式推送的镜像。',
  },
  registry_denied: {
    reason: '镜像仓库 {{registry}} 不允许 Atom 推送到 {{repository}}：{{said}}',
    suggestion: '请管理员改正集群配置中的凭据，或设置项目的密钥 DOCKER_AUTH_CONFIG，然后重试该运行。',
  },
  registry_full: {
    reason: '镜像仓库 {{registry}} 的 {{repository}} 中没有剩余空间：{{said}}',
    suggestion: '请镜像仓库的管理员提高配额或删除旧镜像，然后重试该运行。',
  },
  registry_away: {
    reason: '镜像仓库 {{registry}} 超过一小时没有应答：{{said}}',
    suggestion: '请检查镜像仓库是否在运行、Atom 的工作进程能否访问它，然后重试该运行。',
  },
  registry_not_public: {
    reason: '镜像仓库 {{registry}} 位于 Atom 不得访问的网络中：{{said}}',
    suggestion: '请管理员将其网络列入 ATOM_REGISTRY_NETWORKS，然后重试该运行。',
  },
  registry_refused: {
    reason: '镜像仓库 {{registry}} 拒绝了环境镜像：{{said}}',
    suggestion: '请将此信息交给镜像仓库的管理员，然后重试该运行。',
  },
  preempted: {
    reason: '集群为腾出位置停止了任务：{{said}}',
    suggestion: '无需修改：运行会从最近保存的检查点自动重新开始。',
  },
  evicted: {
    reason: '集群将任务移出了机器：{{said}}',
    suggestion: '无需修改：运行会从最近保存的检查点自动重新开始。',
  },
  node_pressure: {
    reason: '机器的某种资源不足，停止了任务：{{said}}',
    suggestion: '无需修改：运行会从最近保存的检查点自动重新开始。',
  },
  pod_deleted: {
    reason: '任务的 Pod {{pod}} 在运行时被删除。',
    suggestion: '无需修改：运行会从最近保存的检查点自动重新开始。',
  },
  disrupted: {
    reason: '集群收回了任务的机器：{{said}}',
    suggestion: '无需修改：运行会从最近保存的检查点自动重新开始。',
  },
  moved: {
    reason: '运行已移动到集群 {{cluster}}。',
    suggestion: '无需修改：运行会在那里从最近保存的检查点继续。',
  },
  gang_incomplete: {
    reason: '运行需要同时得到 {{nodes}} 个节点，等待 {{waited_s}} 后集群只提供了 {{joined}} 个。',
    suggestion: '无需修改：节点已归还，运行等待下一次轮到它。减少节点数可以更早启动。',
  },
  job_vanished: {
    reason: '任务的对象已从集群消失，无法观察到任务如何结束。',
    suggestion: '只要还有重试次数，运行会自动重新开始。如果再次发生，请向管理员询问是哪个程序删除了它。',
  },
  image_not_pulled: {
    reason: '任务的镜像无法拉取：{{said}}',
    suggestion: '请检查镜像的名称和标签，以及集群是否有权读取其仓库。',
  },
  volume_not_mounted: {
    reason: '任务的卷、密钥或配置未能送达机器：{{said}}',
    suggestion: '请创建所述内容，或将这段文字交给集群管理员。',
  },
  unschedulable: {
    reason: '集群在时限之前没有为任务找到机器：{{said}}',
    suggestion: '请减少所需资源、选择其他类型的机器，或等待其他任务结束。',
  },
  container_not_started: {
    reason: '任务的容器无法启动：{{said}}',
    suggestion: '请检查镜像中是否有该命令，并且可以执行。',
  },
  cluster_ended_it: {
    reason: '集群结束了任务，其对象没有说明原因：{{said}}',
    suggestion: '请将这段文字交给集群管理员；只要还有重试次数，运行会自动重新开始。',
  },
  pod_refused: {
    reason: 'Atom 没有接受任务的 Pod，因此命令没有启动：{{said}}',
    suggestion: podLog,
  },
  pod_not_prepared: {
    reason: '任务的 Pod 中的运行器无法准备这次尝试，因此命令没有启动：{{said}}',
    suggestion: podLog,
  },
  pod_not_reported: {
    reason: '任务的 Pod 中的运行器已结束，Atom 没有收到关于命令的报告：{{said}}',
    suggestion: podLog,
  },
};

export const event: Translation<typeof en.event> = {
  created: '{{user}} 启动了运行。',
  placed: '已分配机器 {{node}}。',
  resumes: '将从第 {{step}} 步的检查点继续。',
  waits: '已排队 {{minutes}} 分钟。',
  runtime: '正在构建 Python 环境；以后的运行可立即开始。',
  runtime_built: 'Python 环境构建完成，用时 {{took_s}}（{{size_bytes}}）。',
  warmed: '机器上的数据和环境已就绪。',
  mounted_other: '{{alias}} 已挂载为文件夹，共 {{count, number}} 个文件，方式：{{how}}。',
  mounted_links_other:
    '{{alias}} 已挂载为文件夹，共 {{count, number}} 个文件，方式：{{how}}。其中的链接：{{links, number}} 个；因指向版本之外而略去：{{links_left_out, number}} 个。',
  volume: '{{dataset}} 是节点 {{node}} 上的卷，其 {{total, number}} 个数据包中已有 {{present, number}} 个。',
  running: '命令已启动。',
  checkpoint: '第 {{step}} 步的检查点已安全保存（{{size_bytes}}）。',
  leftovers_ended_one: '结束了 {{count}} 个在命令结束后仍在运行的进程：{{names}}。',
  leftovers_ended_other: '结束了 {{count}} 个在命令结束后仍在运行的进程：{{names}}。',
  output_refused: '文件“{{path}}”被拒绝：内容与声明不符。',
  cancel_requested: '{{user}} 请求取消运行。',
  cancelling: '已要求命令停止；它有十秒时间保存工作。',
  ended: '命令以退出码 {{exit_code}} 结束。',
  ended_cancelled: '运行已取消，命令被停止。',
  retry: '第 {{number}} 次尝试丢失；下一次将在 {{wait_s}} 后开始。',
  retried: '{{user}} 请求再尝试一次。',
  move_requested: '{{user}} 将该运行移动到集群 {{cluster}}。',
  place_chosen: 'Atom 为该运行选择了 {{cluster}}。',
  no_place: '目前没有可接收该运行的位置，它正在等待。',
  succeeded: '运行成功。',
  failed: '运行失败。',
  cancelled: '运行已取消。',
  model_registered: '已注册为模型 {{model}} 的版本 {{number}}。',
  evaluated: '模型 {{model}} 的版本 {{number}} 在 {{split}} 上的准确率为 {{accuracy}}。',
  registration_failed: '模型未能注册：{{said}}',
};

export const placement: Translation<typeof en.placement> = {
  only_machine: '{{node}} 可容纳 {{demand}}；{{coverage}} 的数据已在其上。',
  only_machine_no_data: '{{node}} 可容纳 {{demand}}。',
  best_fit_no_data: '在 {{machines}} 台机器中，{{node}} 最合适，可容纳 {{demand}}。',
  best_fit: '在 {{machines}} 台机器中，{{node}} 最合适，可容纳 {{demand}}；{{coverage}} 的数据已在其上。',
  chosen_cluster: '已选择集群 {{cluster}}，由它自行选择机器。',
  no_place: '目前没有可接收该运行的位置：它会等待。',
  no_machine: '还没有机器加入集群。',
  no_room: '等待 {{demand}}：{{machines}}。',
  none_fits: '即使没有其他运行，目前接受任务的机器也都无法提供 {{demand}}：{{machines}}。',
  lacks: '{{node}} 缺少 {{amounts}}',
  closed: '{{node}} 目前不接受任务',
};

export const amount: Translation<typeof en.amount> = {
  cpus_other: '{{count, number}} 个 CPU',
  memory: '{{size}} 内存',
  gpus_other: '{{count, number}} 个 GPU',
};

export const reason: Translation<typeof en.reason> = {
  retry: '上一次尝试丢失；下一次将于 {{at}} 开始。',
  queue_other: '队列中前面还有 {{count, number}} 个运行。',
  passed_other: '前面有 {{count, number}} 个运行所需的资源超过目前任何一台机器；本运行不会因此受阻。',
  data: '{{dataset}}：机器上已有 {{bytes_present}}，共 {{bytes_total}}。',
  data_retry: '{{dataset}}：机器上已有 {{bytes_present}}，共 {{bytes_total}}。上次尝试失败：{{error}}',
  runtime: '正在构建 Python 环境：{{said}}',
  cancelled: '运行已取消。',
  cluster: '{{cluster}}：{{said}}',
  place: '{{place}}：{{said}}',
  silent: '运行程序已有 {{silent_s}} 没有上报；其 Pod 在就绪的节点 {{node}} 上运行。',
  node_not_ready: '集群与节点 {{node}} 失去联系。',
  data_gate_choosing: '正在为其数据选择节点。',
  data_gate_eta:
    '{{bytes_total}} 数据中的 {{bytes_present}} 已在 {{nodes}}；达到 {{percent}} % 时开始。大约还需{{eta_s}}。',
  data_gate: '{{bytes_total}} 数据中的 {{bytes_present}} 已在 {{nodes}}；达到 {{percent}} % 时开始。',
  gang_turn: '此集群先为另一个多节点运行提供节点。',
  gang_forming: '{{nodes}} 个节点中有 {{joined}} 个已启动 Pod；命令等待全部到齐。',
};

export const reasonAction: Translation<typeof en.reasonAction> = {
  queue: '请等待。',
  resources: '请等待其他运行结束、取消一个运行，或减少所需资源。',
  machines: '请启动更大机器上的工作进程，让它重新接受任务，或减少所需资源。',
  data: '请等待，数据正在复制。',
  data_retry: '请检查对象存储是否在运行；其余数据会反复重试。',
  runtime: '请等待；以后依赖相同的运行可立即开始。',
  cancelled: '重试即可继续。',
  silent: '请检查 Pod 能否访问 Atom。如果运行已不再工作，请取消它。',
  node_not_ready: '请等待：一旦运行程序也没有上报，运行将在别处重新开始。',
  rdma_off: '请联系管理员：集群页面会说明缺少什么。',
  data_gate: '请等待，或启动一个立即开始的副本。',
  gang_turn: '请等待：每次只有一个运行获取节点，以免两个运行各占一部分。',
  gang_forming: '请等待。{{limit_s}} 后它会归还节点，等待下一次轮到它。',
};
