import { buildSchema, type GraphQLSchema } from 'graphql';

/** The part of RunPod's schema that clients are known to use. A field that is not here is an error here as there. */
const SDL = `
scalar Void
scalar DateTime

enum CloudTypeEnum { ALL SECURE COMMUNITY }
enum PodStatus { CREATED RUNNING RESTARTING EXITED PAUSED DEAD TERMINATED }
enum ComputeType { CPU GPU }
enum Compliance { GDPR ISO_IEC_27001 ISO_14001 PCI_DSS HITRUST SOC_1_TYPE_2 SOC_2_TYPE_2 SOC_3_TYPE_3 HIPAA }

input EnvironmentVariableInput { key: String! value: String! }
input PodFilter { podId: String! }
input GpuTypeFilter { id: String ids: [String] cluster: Boolean }
input GpuLowestPriceInput {
  gpuCount: Int! secureCloud: Boolean dataCenterId: String countryCode: String minDisk: Int totalDisk: Int
  minMemoryInGb: Int minVcpuCount: Int minCudaVersion: String allowedCudaVersions: [String]
  supportPublicIp: Boolean minDownload: Int minUpload: Int compliance: [Compliance] globalNetwork: Boolean
}
input ObjectMountInput { objectStoreId: String! mountPath: String! }

input PodFindAndDeployOnDemandInput { ${deployFields()} }
input PodRentInterruptableInput { bidPerGpu: Float ${deployFields()} }
input DeployCpuPodInput {
  instanceId: String! cloudType: CloudTypeEnum deployCost: Float dataCenterId: String networkVolumeId: String
  containerDiskInGb: Int volumeInGb: Int volumeMountPath: String name: String imageName: String templateId: String
  dockerArgs: String ports: String env: [EnvironmentVariableInput] startSsh: Boolean startJupyter: Boolean
  startScript: String containerRegistryAuthId: String
}
input PodStopInput { podId: String! incrementVersion: Boolean }
input PodTerminateInput { podId: String! }
input PodResumeInput { podId: String! gpuCount: Int allowedCudaVersions: [String] }
input PodBidResumeInput { podId: String! gpuCount: Int! bidPerGpu: Float! }
input PodEditJobInput {
  podId: String! imageName: String dockerArgs: String env: [EnvironmentVariableInput] ports: String
  containerRegistryAuthId: String containerDiskInGb: Int volumeInGb: Int volumeMountPath: String
}
input CreateNetworkVolumeInput { name: String! size: Int! dataCenterId: String! }
input UpdateNetworkVolumeInput { id: String! name: String size: Int }
input DeleteNetworkVolumeInput { id: String! }
input SaveRegistryAuthInput { name: String! username: String! password: String! }
input SaveTemplateInput {
  id: String name: String! imageName: String! dockerArgs: String env: [EnvironmentVariableInput] ports: String
  containerDiskInGb: Int! volumeInGb: Int! volumeMountPath: String readme: String isServerless: Boolean
  isPublic: Boolean startSsh: Boolean startJupyter: Boolean startScript: String containerRegistryAuthId: String
}
input NetworkVolumeIdInput { networkVolumeId: String! }
input EndpointInput {
  id: String name: String! templateId: String gpuIds: String gpuCount: Int instanceIds: [String] workersMin: Int
  workersMax: Int workersStandby: Int idleTimeout: Int scalerType: String scalerValue: Int locations: String
  networkVolumeId: String networkVolumeIds: [NetworkVolumeIdInput] executionTimeoutMs: Int minCudaVersion: String
  allowedCudaVersions: String flashBootType: String modelReferences: [String] type: String
}
input UpdateUserSettingsInput { pubKey: String }

type PodRuntimePort { ip: String isIpPublic: Boolean privatePort: Int publicPort: Int type: String }
type PodRuntimeGpu { id: String gpuUtilPercent: Int memoryUtilPercent: Int }
type PodRuntimeContainer { cpuPercent: Int memoryPercent: Int }
type PodRuntime {
  uptimeInSeconds: Int ports: [PodRuntimePort] gpus: [PodRuntimeGpu] container: PodRuntimeContainer
}
type PodMachine {
  podHostId: String gpuTypeId: String gpuDisplayName: String location: String dataCenterId: String
  secureCloud: Boolean costPerHr: Float cudaVersion: String
}
type PodTelemetry { state: String time: DateTime }
type Pod {
  id: String! name: String desiredStatus: PodStatus lastStatusChange: String lastStartedAt: DateTime
  createdAt: DateTime terminatedAt: DateTime uptimeSeconds: Int costPerHr: Float imageName: String dockerArgs: String
  dockerId: String env: [String] gpuCount: Int vcpuCount: Float memoryInGb: Float containerDiskInGb: Int
  volumeInGb: Float volumeMountPath: String ports: String port: Int podType: String machineId: String
  templateId: String networkVolumeId: String clusterIp: String locked: Boolean machine: PodMachine
  latestTelemetry: PodTelemetry runtime: PodRuntime
}
type DataCenterRef { id: String name: String }
type GpuTypeCudaVersion { cudaVersion: String availability: String }
type LowestPrice {
  minimumBidPrice: Float uninterruptablePrice: Float stockStatus: String availableGpuCounts: [Int] minVcpu: Int
  minMemory: Int compliance: [Compliance] countryCode: String gpuName: String gpuTypeId: String
  rentalPercentage: Float totalCount: Int rentedCount: Int gpuTypeCudaVersions: [GpuTypeCudaVersion]
}
type GpuType {
  id: String displayName: String manufacturer: String memoryInGb: Int secureCloud: Boolean communityCloud: Boolean
  securePrice: Float communityPrice: Float secureSpotPrice: Float communitySpotPrice: Float maxGpuCount: Int
  maxGpuCountSecureCloud: Int maxGpuCountCommunityCloud: Int minPodGpuCount: Int
  nodeGroupDatacenters: [DataCenterRef] lowestPrice(input: GpuLowestPriceInput): LowestPrice
}
type GpuAvailability { gpuTypeId: String displayName: String stockStatus: String available: Boolean }
type DataCenter {
  id: String name: String location: String listed: Boolean storageSupport: Boolean gpuAvailability: [GpuAvailability]
}
input CpuSpecificsInput { dataCenterId: String instanceId: String! }
type CpuSpecifics { stockStatus: String securePrice: Float }
type CpuFlavor {
  id: String displayName: String minVcpu: Int maxVcpu: Int ramMultiplier: Float
  specifics(input: CpuSpecificsInput): CpuSpecifics
}
type ServerlessGpuPool { id: String gpuTypeIds: [String] }
type NetworkVolume { id: String name: String size: Int dataCenterId: String dataCenter: DataCenterRef }
type RegistryAuth { id: String name: String }
type PodTemplate { id: String name: String imageName: String isServerless: Boolean }
type EndpointPod { id: String desiredStatus: PodStatus }
type Endpoint {
  id: String name: String templateId: String gpuIds: String gpuCount: Int workersMin: Int workersMax: Int
  workersStandby: Int idleTimeout: Int scalerType: String scalerValue: Int locations: String networkVolumeId: String
  createdAt: DateTime version: Int pods: [EndpointPod] template: PodTemplate
}
type User {
  id: String email: String authId: String pubKey: String clientBalance: Float currentSpendPerHr: Float
  spendLimit: Float pods: [Pod] pod(podId: String, input: PodFilter): Pod networkVolumes: [NetworkVolume] endpoints: [Endpoint]
  containerRegistryCreds: [RegistryAuth] podTemplates: [PodTemplate]
}

type Query {
  pod(input: PodFilter): Pod
  myself: User
  gpuTypes(input: GpuTypeFilter): [GpuType]
  dataCenters: [DataCenter]
  countryCodes: [String]
  cpuFlavors: [CpuFlavor]
  serverlessGpuPools: [ServerlessGpuPool]
}
type Mutation {
  podFindAndDeployOnDemand(input: PodFindAndDeployOnDemandInput): Pod
  podRentInterruptable(input: PodRentInterruptableInput!): Pod
  deployCpuPod(input: DeployCpuPodInput!): Pod
  podStop(input: PodStopInput!): Pod
  podResume(input: PodResumeInput!): Pod
  podBidResume(input: PodBidResumeInput!): Pod
  podTerminate(input: PodTerminateInput!): Void
  podEditJob(input: PodEditJobInput!): Pod
  createNetworkVolume(input: CreateNetworkVolumeInput!): NetworkVolume
  updateNetworkVolume(input: UpdateNetworkVolumeInput!): NetworkVolume
  deleteNetworkVolume(input: DeleteNetworkVolumeInput!): Void
  saveRegistryAuth(input: SaveRegistryAuthInput!): RegistryAuth
  deleteRegistryAuth(registryAuthId: String!): Void
  saveTemplate(input: SaveTemplateInput): PodTemplate
  deleteTemplate(templateName: String): Void
  saveEndpoint(input: EndpointInput!): Endpoint
  deleteEndpoint(id: String!): Void
  updateEndpointTemplate(input: UpdateEndpointTemplateInput): Endpoint
  updateUserSettings(input: UpdateUserSettingsInput): User
}
input UpdateEndpointTemplateInput { endpointId: String! templateId: String! }
`;

function deployFields(): string {
  return `
  cloudType: CloudTypeEnum gpuTypeId: String gpuTypeIdList: [String] gpuCount: Int imageName: String name: String
  templateId: String dockerArgs: String containerDiskInGb: Int volumeInGb: Int volumeMountPath: String
  volumeKey: String networkVolumeId: String ports: String env: [EnvironmentVariableInput] minVcpuCount: Int
  minMemoryInGb: Int minDisk: Int minDownload: Int minUpload: Int dataCenterId: String countryCode: String
  supportPublicIp: Boolean startSsh: Boolean startJupyter: Boolean stopAfter: DateTime terminateAfter: DateTime
  cudaVersion: String minCudaVersion: String allowedCudaVersions: [String] containerRegistryAuthId: String
  globalNetwork: Boolean compliance: [Compliance] deployCost: Float computeType: ComputeType
  objectMounts: [ObjectMountInput]`;
}

const whole = buildSchema(SDL);
const withoutObjectMounts = buildSchema(SDL.replaceAll('objectMounts: [ObjectMountInput]', ''));

export function graphqlSchema({ objectMounts }: { objectMounts: boolean }): GraphQLSchema {
  return objectMounts ? whole : withoutObjectMounts;
}
